// mistake: a distribution without parentheses
parameters {
  real x;
}
model {
  x ~ std_normal;
}
