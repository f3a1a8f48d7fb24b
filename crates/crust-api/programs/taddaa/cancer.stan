// TADDAA, section 4.4: which kind of leukemia? Logistic regression on the expression of genes with the regularised
// horseshoe prior of Piironen and Vehtari (2017), written as they write it: coefficients are non-centred.
data {
  int<lower=1> N;
  int<lower=1> K;
  matrix[N, K] x;
  array[N] int<lower=0, upper=1> y;
}
transformed data {
  // Their scale for five coefficients that matter; an outcome of a logistic regression is worth a deviation of 2.
  real relevant = fmin(5, 0.5 * K);
  real tau_0 = relevant / (K - relevant) * 2 / sqrt(N);
}
parameters {
  real beta_0;
  vector[K] u;
  vector<lower=0>[K] lambda;
  real<lower=0> tau;
  real<lower=0> c2;
}
transformed parameters {
  vector[K] lambda_tilde = sqrt(c2 * square(lambda) ./ (c2 + square(tau * lambda)));
  vector[K] beta = tau * lambda_tilde .* u;
}
model {
  beta_0 ~ normal(0, 10);
  u ~ normal(0, 1);
  lambda ~ cauchy(0, 1);
  tau ~ cauchy(0, tau_0);
  c2 ~ inv_gamma(2, 8);
  y ~ bernoulli_logit(beta_0 + x * beta);
}
generated quantities {
  // The mean of lambda is infinite, as that of its prior is.
  vector[K] log_lambda = log(lambda);
}
