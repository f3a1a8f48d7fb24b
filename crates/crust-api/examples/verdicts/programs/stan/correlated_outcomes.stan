data {
  int N;
  array[N] vector[3] y;
}
parameters {
  vector[3] mu;
  vector<lower=0>[3] sd;
  corr_matrix[3] R;
}
model {
  mu ~ normal(0, 5);
  sd ~ cauchy(0, 2.5);
  R ~ lkj_corr(2);
  y ~ multi_normal(mu, quad_form_diag(R, sd));
}
