data { int<lower=0> R; array[R] int<lower=0> y; int<lower=0> K; }
parameters { real<lower=0> lambda; real<lower=0, upper=1> p; }
model {
  lambda ~ gamma(2, 0.5); p ~ beta(2, 2);
  for (i in 1:R) {
    vector[K - y[i] + 1] lp;
    for (j in 1:(K - y[i] + 1)) lp[j] = poisson_lpmf(y[i] + j - 1 | lambda) + binomial_lpmf(y[i] | y[i] + j - 1, p);
    target += log_sum_exp(lp);
  }
}
