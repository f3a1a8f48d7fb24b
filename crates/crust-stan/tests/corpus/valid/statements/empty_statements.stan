// Empty statements in every place where the grammar takes them.
functions {
  void nop() {
    ;
  }
  void nothing() { }
  real one() { ;; return 1; }
}
data { ; int n;; ; }
transformed data { ;;; }
parameters { ; real x; ; }
transformed parameters { ; }
model {
  ;
  nop();
  nothing();
  if (1) ; else ;
  for (i in 1 : 2) ;
  for (e in {1, 2}) ;
  while (0) ;
  { ; }
  {{};}
  x ~ normal(0, one());;
}
generated quantities { ;;}
