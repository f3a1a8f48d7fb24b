// Parameters and model without any data.
parameters {
  real x;
  real<lower=0> y;
}
model {
  x ~ std_normal();
  y ~ exponential(1 + square(x));
}
