// mistake: an integer literal that is too large, although the variable is a real
transformed data {
  real a = 3000000000;
}
