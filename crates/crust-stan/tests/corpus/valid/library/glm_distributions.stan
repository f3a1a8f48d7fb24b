// The generalised linear model densities with vector, scalar and matrix arguments.
data { int<lower=1> n; int<lower=1> k; int<lower=2> c; matrix[n, k] X; row_vector[k] x1; vector[n] y; array[n] int b; array[n] int t; array[n] int<lower=1, upper=c> o; int<lower=1, upper=c> o1; }
parameters { real a; vector[n] av; vector[k] beta; real<lower=0> s; vector<lower=0>[n] sv; ordered[c - 1] cut; vector[c] ac; matrix[k, c] B; }
model {
  y ~ normal_id_glm(X, a, beta, s); y ~ normal_id_glm(X, av, beta, sv); y ~ normal_id_glm(x1, a, beta, s); b ~ bernoulli_logit_glm(X, a, beta); b ~ bernoulli_logit_glm(X, av, beta); b ~ binomial_logit_glm(t, X, a, beta); b ~ poisson_log_glm(X, a, beta); b ~ poisson_log_glm(x1, av, beta); b ~ neg_binomial_2_log_glm(X, av, beta, s); o ~ ordered_logistic_glm(X, beta, cut); o1 ~ ordered_logistic_glm(x1, beta, cut); o ~ categorical_logit_glm(X, ac, B); o1 ~ categorical_logit_glm(x1, ac, B);
  target += normal_id_glm_lpdf(y | X, a, beta, s) + bernoulli_logit_glm_lupmf(b | X, a, beta) + poisson_log_glm_lpmf(b | X, a, beta) + neg_binomial_2_log_glm_lupmf(b | X, a, beta, s) + categorical_logit_glm_lpmf(o | X, ac, B) + ordered_logistic_glm_lpmf(o | X, beta, cut) + binomial_logit_glm_lpmf(b | t, X, a, beta);
}
generated quantities { array[n] int rep = bernoulli_logit_glm_rng(X, rep_vector(a, n), beta); }
