// mistake: target without parentheses in an expression
model {
  real a = target;
}
