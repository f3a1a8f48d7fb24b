// mistake: an addition without its right operand
transformed data {
  real a = 1 + ;
}
