// Five thousand observations in a generalised linear model, as brms writes it.
data { int N; int K; matrix[N, K] X; vector[N] Y; }
transformed data {
  matrix[N, K] Xc;
  for (k in 1:K) Xc[, k] = X[, k] - mean(X[, k]);
}
parameters { vector[K] b; real intercept; real<lower=0> sigma; }
model {
  target += normal_lpdf(b | 0, 1);
  target += student_t_lpdf(intercept | 3, 8, 10);
  target += student_t_lpdf(sigma | 3, 0, 10) - 1 * student_t_lccdf(0 | 3, 0, 10);
  target += normal_id_glm_lpdf(Y | Xc, intercept, b, sigma);
}
