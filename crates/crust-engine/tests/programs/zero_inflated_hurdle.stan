// Zero-inflated counts, and a hurdle with a truncated Poisson.
data {
  int<lower=0> N;
  array[N] int<lower=0> y;
  vector[N] x;
}
transformed data {
  int zeros = 0;
  for (n in 1:N) zeros += y[n] == 0;
}
parameters {
  real<lower=0, upper=1> theta;
  real<lower=0, upper=1> hurdle;
  vector[2] beta;
}
model {
  vector[N] eta = beta[1] + beta[2] * x;
  theta ~ beta(1, 2);
  beta ~ normal(0, 1);
  zeros ~ binomial(N, hurdle);
  for (n in 1:N) {
    if (y[n] == 0) {
      target += log_sum_exp(bernoulli_lpmf(1 | theta), bernoulli_lpmf(0 | theta) + poisson_log_lpmf(y[n] | eta[n]));
    } else {
      target += bernoulli_lpmf(0 | theta) + poisson_log_lpmf(y[n] | eta[n]);
      y[n] ~ poisson(exp(eta[n])) T[1, ];
    }
  }
}
