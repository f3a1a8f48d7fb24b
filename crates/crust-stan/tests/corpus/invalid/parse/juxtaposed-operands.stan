// mistake: two operands without an operator
transformed data {
  real a = 2 3;
}
