// mistake: the last block is not closed
parameters {
  real x;
}
model {
  x ~ std_normal();
