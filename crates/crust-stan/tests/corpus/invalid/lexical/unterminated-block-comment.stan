// mistake: a block comment is never closed
parameters {
  real x;
}
model {
  x ~ std_normal();
  /* this goes on to the end
}
