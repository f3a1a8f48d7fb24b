// mistake: a statement outside of all blocks
parameters {
  real x;
}
x ~ std_normal();
