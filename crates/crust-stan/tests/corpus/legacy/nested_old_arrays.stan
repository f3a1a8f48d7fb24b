// Retired: old arrays as loop locals, in nested blocks, with several dimensions and constrained parameters.
data { int<lower=1> a; int<lower=1> b; }
parameters {
  real<lower=0, upper=1> p[a, b];
  unit_vector[3] u[a];
  cholesky_factor_cov[3, 2] L[b];
  real<offset=1, multiplier=2> z[a];
}
model {
  for (i in 1:a) {
    real row_sum[b];
    {
      int count[2, 2];
      count[1, 1] = i;
    }
    for (j in 1:b) row_sum[j] = p[i, j];
  }
}
