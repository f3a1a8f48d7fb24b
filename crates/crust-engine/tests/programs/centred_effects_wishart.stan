// The centred form: vectors by group with a multivariate prior, a correlation matrix and scales.
data {
  int<lower=1> J;
  int<lower=1> K;
  array[J] vector[K] y;
}
parameters {
  corr_matrix[K] Omega;
  vector<lower=0>[K] tau;
  vector[K] mu;
  array[J] vector[K] theta;
  cov_matrix[K] Sigma;
}
model {
  tau ~ cauchy(0, 2.5);
  Omega ~ lkj_corr(2);
  mu ~ normal(0, 3);
  theta ~ multi_normal(mu, quad_form_diag(Omega, tau));
  Sigma ~ inv_wishart(K + 2, identity_matrix(K));
  y ~ multi_normal(theta[1], Sigma);
  for (j in 1:J) y[j] ~ multi_student_t(5, theta[j], Sigma);
}
