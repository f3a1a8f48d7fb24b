// mistake: a parenthesis closed by a bracket
transformed data {
  real a = (1 + 2];
}
