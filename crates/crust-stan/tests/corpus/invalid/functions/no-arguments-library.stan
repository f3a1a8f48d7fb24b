// mistake: no arguments to a library function
transformed data {
  real a = exp();
}
