// TADDAA, section 4.2: Neal's funnel. The variance of x[2], ..., x[d] is exp(x[1]).
data {
  int<lower=2> d;
}
parameters {
  vector[d] x;
}
model {
  x[1] ~ normal(0, 1);
  x[2:d] ~ normal(0, exp(0.5 * x[1]));
}
