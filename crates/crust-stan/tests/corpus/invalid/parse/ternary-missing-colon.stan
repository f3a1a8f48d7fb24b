// mistake: a ternary without its colon
transformed data {
  real a = 1 ? 2;
}
