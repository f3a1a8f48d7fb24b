// mistake: an exponent without digits
transformed data {
  real a = 1e;
}
