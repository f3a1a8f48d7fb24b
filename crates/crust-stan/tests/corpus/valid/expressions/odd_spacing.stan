// White space and comments around member access, transposition, indexes, calls and ranges.
functions { real f ( real a , real b ) { return a+b ; } }
data { tuple ( tuple ( int , int ) , real ) t ; vector [ 3 ] v ; matrix<lower = 0 , upper = 1> [ 2 , 2 ] m ; int c ; array [ 2 ] int k ; }
transformed data {
  int a = t.1 .2 + t .1.2 + t /* c */ .1 .1 ;
  real b = f ( 1 , 2 ) + f(1,2)+v [ 1 ]+m [ 1 ] [ 2 ]+ m[ 1 , 2 ] ;
  row_vector [ 3 ] w = v ' ;
  row_vector[3] x = v
    '
  ;
  vector[2] r1 = v[1:2];
  vector[2] r2 = v[1 :2];
  vector[2] r3 = v[1: c ? 1 : 2];
  vector[2] r4 = v[c ? 1 : 2 : 3];
  vector[2] r5 = v[-c+1:c*2];
  vector[1] r6 = v[{c}];
  int neg = c<-1;
  int s = k [
    1
  ] ;
}
