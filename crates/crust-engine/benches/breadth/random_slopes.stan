// Correlated intercepts and slopes, as brms writes them: a vector that is added to as a whole, then in a loop.
functions {
  matrix scale_r_cor(matrix z, vector SD, matrix L) { return transpose(diag_pre_multiply(SD, L) * z); }
}
data { int N; vector[N] Y; int K; matrix[N, K] X; int J; array[N] int<lower=1, upper=J> g; vector[N] Z; }
parameters { vector[K] b; real intercept; real<lower=0> sigma; vector<lower=0>[2] sd; matrix[2, J] z; cholesky_factor_corr[2] L; }
transformed parameters {
  matrix[J, 2] r = scale_r_cor(z, sd, L);
  vector[J] r_1 = r[, 1];
  vector[J] r_2 = r[, 2];
}
model {
  vector[N] mu = rep_vector(0.0, N);
  mu += intercept + X * b;
  for (n in 1:N) mu[n] += r_1[g[n]] + r_2[g[n]] * Z[n];
  target += normal_lpdf(Y | mu, sigma);
  target += student_t_lpdf(intercept | 3, 0, 5);
  target += student_t_lpdf(sigma | 3, 0, 5);
  target += student_t_lpdf(sd | 3, 0, 5);
  target += lkj_corr_cholesky_lpdf(L | 1);
  target += std_normal_lpdf(to_vector(z));
}
