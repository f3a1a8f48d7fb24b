// mistake: the modulus of reals
transformed data {
  real c = 5.5 % 2;
}
