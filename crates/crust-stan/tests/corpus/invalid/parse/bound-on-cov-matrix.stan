// mistake: bounds on a covariance matrix
parameters {
  cov_matrix<lower=0>[3] S;
}
