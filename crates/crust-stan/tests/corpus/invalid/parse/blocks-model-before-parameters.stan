// mistake: the model block before the parameters block
model {
  target += 1;
}
parameters {
  real x;
}
