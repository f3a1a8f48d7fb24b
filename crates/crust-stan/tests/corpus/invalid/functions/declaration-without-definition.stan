// mistake: a function is declared and never defined
functions {
  real f(real x);
}
transformed data {
  real a = f(1);
}
