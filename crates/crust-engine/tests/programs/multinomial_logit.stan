// Choices among alternatives with attributes, and tables of counts.
data {
  int<lower=1> N;
  int<lower=2> K;
  int<lower=1> D;
  array[N] matrix[K, D] attributes;
  array[N] int<lower=1, upper=K> y;
  array[K] int<lower=0> counts;
}
parameters {
  vector[D] beta;
  vector[K - 1] alpha_free;
  simplex[K] share;
}
model {
  vector[K] alpha = append_row(0, alpha_free);
  beta ~ normal(0, 2);
  alpha_free ~ normal(0, 2);
  share ~ dirichlet(softmax(alpha) * 6);
  for (n in 1:N) y[n] ~ categorical_logit(alpha + attributes[n] * beta);
  counts ~ multinomial(share);
  y[1] ~ categorical(share);
}
