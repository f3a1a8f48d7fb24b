// The library's own transforms called by hand: _jacobian in transformed parameters, _constrain and _unconstrain elsewhere.
data { int<lower=2> k; vector[k] raw0; }
transformed data {
  vector[k] c1 = lower_bound_constrain(raw0, 0);
  vector[k] c2 = lower_bound_unconstrain(c1, 0);
  vector[k + 1] c3 = simplex_constrain(raw0);
  vector[k] c4 = simplex_unconstrain(c3);
  vector[k] c5 = ordered_constrain(raw0);
  array[2] vector[k] c6 = positive_ordered_constrain({raw0, raw0});
  matrix[2, 2] c7 = cov_matrix_constrain([1, 2, 3]', 2);
  vector[k] c8 = offset_multiplier_constrain(raw0, 1, 2);
  real c9 = upper_bound_unconstrain(-1, 0) + lower_upper_bound_constrain(0.5, 0, 1);
}
parameters { vector[k] u; real s_raw; vector[1] r_raw; matrix[k, k] p_raw; }
transformed parameters {
  vector[k + 1] w = simplex_jacobian(u);
  real<lower=0> s = lower_bound_jacobian(s_raw, 0);
  real t = lower_upper_bound_jacobian(s_raw, -1, 1);
  vector[k] o = ordered_jacobian(u);
  vector[k] x = unit_vector_jacobian(u);
  matrix[2, 2] R = corr_matrix_jacobian(r_raw, 2);
  matrix[2, 2] L = cholesky_factor_corr_jacobian(r_raw, 2);
  vector[k + 1] z = sum_to_zero_jacobian(u);
  matrix[k + 1, k] P = stochastic_column_jacobian(p_raw);
  matrix[k, k + 1] Q = stochastic_row_jacobian(p_raw);
}
model { w ~ dirichlet(rep_vector(2, k + 1)); s ~ exponential(1); R ~ lkj_corr(2); z ~ normal(0, 1); }
