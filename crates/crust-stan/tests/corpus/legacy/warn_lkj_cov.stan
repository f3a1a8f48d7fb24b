// Retired: the `lkj_cov` distribution (2.39 still takes it with a deprecation warning).
data { int<lower=2> k; array[5] vector[k] y; }
parameters { vector[k] mu; cov_matrix[k] S; }
model {
  S ~ lkj_cov(rep_vector(0, k), rep_vector(1, k), 2.0);
  y ~ multi_normal(mu, S);
}
