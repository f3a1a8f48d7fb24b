// Known: von Mises–Fisher directions, and normals given that their sum is zero.
data {
  real<lower=0> kappa;
}
parameters {
  unit_vector[3] u;
  sum_to_zero_vector[4] z;
  column_stochastic_matrix[3, 2] P;
}
model {
  target += kappa * u[3];
  z ~ normal(0, 2);
  P[ : , 1] ~ dirichlet([1, 2, 3]');
  P[ : , 2] ~ dirichlet([4, 1, 2]');
}
