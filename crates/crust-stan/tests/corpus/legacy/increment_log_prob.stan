// Retired: `increment_log_prob(...)` in place of `target +=`.
data {
  int<lower=0> n;
  vector[n] y;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  increment_log_prob(-0.5 * square(mu));
  increment_log_prob(normal_log(y, mu, sigma));
  for (i in 1:n) increment_log_prob(0.0);
}
