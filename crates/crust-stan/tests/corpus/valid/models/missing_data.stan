// Three blood markers with gaps: a complete matrix is filled from observed values and imputed parameters.
data {
  int<lower=1> n_sample;
  matrix[n_sample, 3] marker; // gaps are coded as not a number by the caller
  array[n_sample, 3] int<lower=0, upper=1> present;
}
transformed data {
  int n_gap = 0;
  for (row_flags in present) n_gap += 3 - sum(row_flags);
}
parameters {
  vector[n_gap] imputed;
  row_vector[3] centre;
  vector<lower=0>[3] spread;
  cholesky_factor_corr[3] L;
}
transformed parameters {
  matrix[n_sample, 3] filled = marker;
  {
    int next = 1;
    for (i in 1 : n_sample) {
      for (j in 1 : 3) {
        if (!present[i, j]) {
          filled[i, j] = imputed[next];
          next += 1;
        }
      }
    }
  }
}
model {
  matrix[3, 3] root = diag_pre_multiply(spread, L);
  centre ~ normal(0, 10);
  spread ~ exponential(0.5);
  L ~ lkj_corr_cholesky(1.5);
  for (i in 1 : n_sample) filled[i] ~ multi_normal_cholesky(centre, root);
}
