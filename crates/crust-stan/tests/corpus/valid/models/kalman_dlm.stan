// Dynamic linear model whose likelihood comes from the built-in Kalman filter density.
data {
  int<lower=1> T;
  matrix[1, T] y;
}
transformed data {
  matrix[2, 1] F = [[1], [0]];
  matrix[2, 2] G = [[1, 1], [0, 1]];
  vector[2] m0 = [0, 0]';
  matrix[2, 2] C0 = diag_matrix(rep_vector(100, 2));
}
parameters {
  real<lower=0> v;
  vector<lower=0>[2] w;
}
model {
  v ~ exponential(1);
  w ~ exponential(2);
  y ~ gaussian_dlm_obs(F, G, [[square(v)]], diag_matrix(square(w)), m0, C0);
}
