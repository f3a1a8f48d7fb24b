// Retired: `normal_cdf(y, mu, sigma)` and other cdf functions with commas only.
data { real y; int k; }
parameters { real mu; real<lower=0> sigma; }
model {
  target += log(normal_cdf(y, mu, sigma));
  target += log1m(poisson_cdf(k, sigma));
}
