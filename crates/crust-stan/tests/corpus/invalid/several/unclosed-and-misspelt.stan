// mistake: an unclosed call and an unknown block (2 mistakes)
transformed data {
  real a = exp(1.0;
}
constants {
  real b;
}
