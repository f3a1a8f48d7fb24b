// mistake: a distribution statement in a plain function
functions {
  void f(real x) {
    x ~ normal(0, 1);
  }
}
