// mistake: a bound on a local variable of the model
model {
  real<lower=0> x = 1;
}
