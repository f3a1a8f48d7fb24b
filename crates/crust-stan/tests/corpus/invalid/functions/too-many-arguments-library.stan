// mistake: too many arguments to a library function
transformed data {
  real a = exp(1.0, 2.0);
}
