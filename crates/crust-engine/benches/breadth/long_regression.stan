// Five thousand observations, two dozen centred predictors.
data { int N; int K; matrix[N, K] X; vector[N] Y; }
transformed data {
  matrix[N, K] Xc;
  vector[K] means;
  for (k in 1:K) {
    means[k] = mean(X[, k]);
    Xc[, k] = X[, k] - means[k];
  }
}
parameters { vector[K] b; real intercept; real<lower=0> sigma; real<lower=1> nu; }
model {
  vector[N] mu = intercept + Xc * b;
  b ~ normal(0, 1);
  intercept ~ student_t(3, 0, 10);
  sigma ~ student_t(3, 0, 10);
  nu ~ gamma(2, 0.1);
  Y ~ student_t(nu, mu, sigma);
}
