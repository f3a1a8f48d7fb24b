// Call syntax: no arguments, the vertical bar, nested calls, calls as indexes.
functions {
  real konst() { return 2; }
  real my_lpdf(real y) { return -y; }
  real two_lpdf(real y, real a, real b) { return -a * y + b; }
}
data { int n; array[n] int k; vector[n] y; }
parameters { real mu; real<lower=0> sigma; }
model {
  target += konst() * konst();
  target += my_lpdf(mu | );
  target += my_lpdf(mu);
  target += my_lupdf(mu | );
  target += two_lpdf(mu | sigma, konst());
  target += normal_lpdf(y | mu, sigma);
  target += normal_lupdf(y[k[1]] | mu, fmax(sigma, fmin(konst(), exp(log(sigma)))));
  target += log_sum_exp(normal_lpdf(y[1] | mu, 1), log_sum_exp(std_normal_lpdf(mu | ), 0));
  target += std_normal_lpdf(mu);
  target += poisson_lpmf(k | sigma) - poisson_lcdf(k | sigma);
  target += log(normal_cdf(mu | 0, 1)) + normal_lccdf(y | (mu + 1) / 2, sigma ^ 2);
  target += y[k[size(k)]] + machine_precision() + e() + pi();
  mu ~ my();
  mu ~ two(1, sigma);
}
