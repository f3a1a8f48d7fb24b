// All special constrained parameter types, scalar sized and in arrays.
data {
  int<lower=2> k;
}
parameters {
  ordered[k] o;
  positive_ordered[k] po;
  simplex[k] s;
  unit_vector[k] u;
  sum_to_zero_vector[k] stz;
  sum_to_zero_matrix[k, k + 1] stzm;
  column_stochastic_matrix[k, 3] csm;
  row_stochastic_matrix[3, k] rsm;
  cov_matrix[k] cm;
  corr_matrix[k] om;
  cholesky_factor_cov[k] lc;
  cholesky_factor_cov[k + 2, k] lc_tall;
  cholesky_factor_corr[k] lo;
  array[2] simplex[k] s_arr;
  array[2, 3] ordered[k] o_arr;
  array[4] cholesky_factor_corr[k] lo_arr;
  array[2] sum_to_zero_vector[k] stz_arr;
}
model {
  o ~ normal(0, 1);
  s ~ dirichlet(rep_vector(2, k));
  stz ~ normal(0, 1);
  to_vector(stzm) ~ normal(0, 1);
  cm ~ wishart(k + 2, identity_matrix(k));
  om ~ lkj_corr(2);
  lo ~ lkj_corr_cholesky(2);
  for (j in 1 : 3) {
    csm[ : , j] ~ dirichlet(rep_vector(1, k));
    rsm[j]' ~ dirichlet(rep_vector(1, k));
  }
  for (l in lo_arr) {
    l ~ lkj_corr_cholesky(4);
  }
}
