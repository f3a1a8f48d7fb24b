// mistake: a ternary without its middle operand
transformed data {
  real a = 1 ? : 2;
}
