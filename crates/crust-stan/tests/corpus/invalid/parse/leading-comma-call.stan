// mistake: a comma before the first argument
transformed data {
  real a = fmax(, 2.0);
}
