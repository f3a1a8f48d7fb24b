// mistake: the variate of a distribution statement is not declared
model {
  y ~ normal(0, 1);
}
