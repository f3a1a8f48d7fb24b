// TADDAA, section 4.5: the same data and a network with two layers of five units.
data {
  int<lower=1> N;
  int<lower=1> K;
  matrix[N, K] z;
  array[N] int<lower=0, upper=1> y;
}
transformed data {
  int H = 5;
  // The paper's second number of a normal distribution is its variance.
  real sd = sqrt(2);
}
parameters {
  matrix[K, H] alpha;
  matrix[H, H] beta;
  vector[H] gamma;
}
transformed parameters {
  vector[N] logit_p = tanh(tanh(z * alpha) * beta) * gamma;
}
model {
  to_vector(alpha) ~ normal(0, sd);
  to_vector(beta) ~ normal(0, sd);
  gamma ~ normal(0, sd);
  y ~ bernoulli_logit(logit_p);
}
generated quantities {
  real log_loss = -bernoulli_logit_lpmf(y | logit_p) / N;
}
