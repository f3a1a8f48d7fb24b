// mistake: block comments do not nest, so the second end mark is left over
parameters {
  real x;
}
/* outer /* inner */ still outer? */
model {
  x ~ std_normal();
}
