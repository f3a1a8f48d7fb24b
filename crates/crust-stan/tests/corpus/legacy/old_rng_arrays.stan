// Retired: old array declarations that receive vectorised rng results and array literals.
data { int<lower=1> n; vector[n] mu; }
generated quantities {
  real y_rep[n] = normal_rng(mu, 1);
  int k_rep[n] = poisson_log_rng(mu);
  int lit[3] = {1, 2, 3};
}
