// mistake: a generated quantity is used in the model block (which comes earlier)
model {
  target += g;
}
generated quantities {
  real g = 1;
}
