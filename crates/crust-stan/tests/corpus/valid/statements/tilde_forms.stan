// Distribution statements with literals, expressions and indexed values at the left.
data { int n; vector[n] y; array[n] int c; matrix[n, 2] x; array[2] vector[n] av; tuple(real, vector[n]) t; }
parameters { vector[n] m; real<lower=0> s; cov_matrix[2] cm; }
transformed parameters { vector[2] e = [s, s]'; }
model {
  y ~ normal(m, s);
  y[1] ~ normal(m[1], s);
  y[ : 2] ~ normal(m[ : 2], s);
  y + 1 ~ normal(m, s);
  y - m ~ normal(0, s);
  -y ~ normal(-m, s);
  y' ~ normal(m', s);
  log(s) ~ normal(0, 1);
  (m[1] + m[2]) ~ normal(0, 1);
  2 * m[1] ~ normal(0, 1);
  1 ~ bernoulli(0.5);
  0.5 ~ beta(1, 1);
  {1, 0, 1} ~ bernoulli_logit(m[1]);
  [1.5, 2] ~ normal(0, 1);
  sum(m) ~ normal(0, 0.001 * n);
  to_vector(x) ~ normal(0, 1);
  col(x, 1) ~ normal(m, 1);
  x[ : , 2] ~ normal(m, 1);
  c ~ poisson_log(m);
  c[1] + c[2] ~ poisson(s);
  av[1] ~ normal(0, 1);
  t.1 ~ normal(0, 1);
  t.2 ~ normal(0, s);
  [m[1], m[2]]' ~ multi_normal(e, cm);
  m ~ std_normal();
  (n > 1 ? y[1] : y[n]) ~ normal(0, 1);
}
