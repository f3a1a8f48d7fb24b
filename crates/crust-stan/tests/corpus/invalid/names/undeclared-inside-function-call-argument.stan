// mistake: an argument of a call is not declared
transformed data {
  real a = fmax(1.0, missing1);
}
