// mistake: a ternary without its last operand
transformed data {
  real a = 1 ? 2 : ;
}
