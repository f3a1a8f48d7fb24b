// mistake: a distribution statement in the parameters block
parameters {
  real x;
  x ~ std_normal();
}
