// One parameter of every type; the source of transforms.tsv.
functions {
  // a fixed linear functional with awkward weights
  real weigh(vector x, int salt) {
    real s = 0;
    for (i in 1:num_elements(x)) s += 0.125 * ((7 * i + salt) % 11 - 5) * x[i];
    return s;
  }
}
parameters {
  vector[2] plain;
  real<lower=-1.5> lo;
  real<upper=2.25> up;
  real<lower=-0.5, upper=3> both;
  real<offset=1.5, multiplier=2.5> affine;
  real<lower=lo> lo_p;
  real<upper=up> up_p;
  real<lower=lo, upper=lo + 4> both_p;
  real<offset=both, multiplier=lo_p - lo> affine_p;
  real<lower=negative_infinity()> lo_inf;
  real<upper=positive_infinity()> up_inf;
  real<lower=negative_infinity(), upper=1> left_inf;
  real<lower=-1, upper=positive_infinity()> right_inf;
  vector<lower=[0, 1, negative_infinity()]', upper=[1, 3, 2]'>[3] per_element;
  simplex[4] theta;
  unit_vector[3] u;
  ordered[4] o;
  positive_ordered[3] po;
  sum_to_zero_vector[4] z;
  sum_to_zero_matrix[3, 4] zm;
  cov_matrix[3] S;
  corr_matrix[4] R;
  cholesky_factor_cov[4, 3] L;
  cholesky_factor_cov[3] L3;
  cholesky_factor_corr[4] C;
  column_stochastic_matrix[3, 2] cs;
  row_stochastic_matrix[2, 3] rs;
}
model {
  target += weigh(plain, 1) + weigh([lo, up, both, affine, lo_p, up_p, both_p, affine_p, lo_inf, up_inf, left_inf, right_inf]', 2);
  target += weigh(per_element, 3) + weigh(theta, 4) + weigh(u, 5) + weigh(o, 6) + weigh(po, 7) + weigh(z, 8);
  target += weigh(to_vector(zm), 9) + weigh(to_vector(S), 10) + weigh(to_vector(R), 11) + weigh(to_vector(L), 12);
  target += weigh(to_vector(L3), 13) + weigh(to_vector(C), 14) + weigh(to_vector(cs), 15) + weigh(to_vector(rs), 16);
}
