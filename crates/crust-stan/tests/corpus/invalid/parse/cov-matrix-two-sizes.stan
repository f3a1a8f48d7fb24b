// mistake: a covariance matrix with two sizes
parameters {
  cov_matrix[3, 3] S;
}
