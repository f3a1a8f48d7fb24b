// mistake: too many arguments after the tilde
parameters {
  real x;
}
model {
  x ~ std_normal(0, 1);
}
