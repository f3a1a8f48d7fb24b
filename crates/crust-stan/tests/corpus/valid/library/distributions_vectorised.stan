// Common distributions with many vectorised argument shapes.
data { int<lower=1> n; vector[n] y; row_vector[n] yr; array[n] real ya; array[n] int k; array[n] int t; int k1; }
parameters { real m; vector[n] mv; real<lower=0> s; vector<lower=0>[n] sv; real<lower=0, upper=1> p; vector<lower=0, upper=1>[n] pv; array[n] real ma; }
model {
  y ~ normal(m, s); y ~ normal(mv, s); y ~ normal(m, sv); y ~ normal(mv, sv); yr ~ normal(mv, s); ya ~ normal(ma, sv); ya ~ normal(0, 1); 1.5 ~ normal(mv, sv); m ~ normal(y, 1);
  k ~ poisson(s); k ~ poisson(sv); k1 ~ poisson(sv); k ~ poisson_log(mv); k ~ bernoulli(p); k ~ bernoulli(pv); k ~ bernoulli_logit(ma); k1 ~ bernoulli(pv);
  k ~ binomial(t, p); k ~ binomial(10, pv); k ~ binomial_logit(t, mv); k1 ~ binomial(5, p); k ~ neg_binomial_2(sv, s); k ~ neg_binomial_2_log(mv, 2); k ~ beta_binomial(t, 1, sv);
  target += normal_lpdf(y | mv, sv) + student_t_lpdf(ya | 3, ma, s) + cauchy_lpdf(y | mv', s) + gamma_lpdf(sv | s, s) + poisson_lpmf(k | sv) + beta_lpdf(pv | s, sv);
  target += normal_lcdf(y | mv, s) + normal_lccdf(ya | m, sv) + poisson_lcdf(k | s) + binomial_lccdf(k | t, pv) + normal_cdf(y | m, s) + exponential_lccdf(sv | s) + weibull_lcdf(sv | 1, sv);
}
generated quantities {
  array[n] real g1 = normal_rng(mv, s); array[n] real g2 = normal_rng(ma, 1); real g3 = normal_rng(0, 1); array[n] int g4 = poisson_rng(sv); int g5 = poisson_rng(s); array[n] int g6 = binomial_rng(t, p); array[n] real g7 = gamma_rng(sv, sv); vector[n] g8 = to_vector(beta_rng(pv, 1));
}
