// mistake: a product without its left operand
transformed data {
  real a = * 2;
}
