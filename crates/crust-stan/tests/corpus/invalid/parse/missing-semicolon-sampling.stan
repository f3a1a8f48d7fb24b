// mistake: no semicolon after a distribution statement
parameters {
  real a;
}
model {
  a ~ normal(0, 1)
}
