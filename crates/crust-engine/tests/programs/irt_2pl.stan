// Item response with discrimination and difficulty; abilities are standard normal; a guessing floor for some items.
data {
  int<lower=1> I;
  int<lower=1> J;
  int<lower=1> N;
  array[N] int<lower=1, upper=I> ii;
  array[N] int<lower=1, upper=J> jj;
  array[N] int<lower=0, upper=1> y;
  array[I] int<lower=0, upper=1> guessed;
}
parameters {
  vector<lower=0>[I] alpha;
  vector[I] beta;
  real mu_beta;
  real<lower=0> sigma_beta;
  vector[J] theta;
  real<lower=0, upper=0.5> floor_;
}
model {
  alpha ~ lognormal(0.5, 1);
  beta ~ normal(mu_beta, sigma_beta);
  mu_beta ~ normal(0, 3);
  sigma_beta ~ cauchy(0, 5);
  theta ~ std_normal();
  floor_ ~ beta(2, 8);
  for (n in 1:N) {
    real eta = alpha[ii[n]] * (theta[jj[n]] - beta[ii[n]]);
    if (guessed[ii[n]]) y[n] ~ bernoulli(floor_ + (1 - floor_) * inv_logit(eta));
    else y[n] ~ bernoulli_logit(eta);
  }
}
