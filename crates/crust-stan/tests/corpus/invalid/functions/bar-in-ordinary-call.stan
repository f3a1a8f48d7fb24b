// mistake: a bar in a call of an ordinary function
transformed data {
  real a = fmax(1.0 | 2.0);
}
