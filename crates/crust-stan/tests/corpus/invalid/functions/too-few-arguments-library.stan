// mistake: too few arguments to a library function
transformed data {
  real a = fmax(1.0);
}
