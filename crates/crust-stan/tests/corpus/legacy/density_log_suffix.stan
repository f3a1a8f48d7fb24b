// Retired: library densities called with the `_log` suffix and commas.
data {
  int<lower=0> n;
  vector[n] y;
  int k;
  array[3] int c;
}
parameters {
  real mu;
  real<lower=0> sigma;
  real<lower=0, upper=1> p;
  simplex[3] th;
}
model {
  target += normal_log(y, mu, sigma);
  target += bernoulli_log(1, p);
  target += binomial_log(k, 10, p);
  target += poisson_log_log(k, mu);
  target += multinomial_log(c, th);
  target += exponential_log(sigma, 1.0) + beta_log(p, 2, 2);
}
