// mistake: a real condition in a ternary
transformed data {
  real a = 1.5 ? 1 : 2;
}
