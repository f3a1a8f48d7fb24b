data {
  int N;
  int K;
  matrix[N, K] X;
  vector[N] y;
}
transformed data {
  matrix[N, K] Q = qr_thin_Q(X) * sqrt(N - 1);
  matrix[K, K] R = qr_thin_R(X) / sqrt(N - 1);
  matrix[K, K] R_inv = inverse(R);
}
parameters {
  real alpha;
  vector[K] theta;
  real<lower=0> sigma;
}
model {
  alpha ~ student_t(3, 0, 2.5);
  theta ~ normal(0, 1);
  sigma ~ student_t(3, 0, 2.5);
  y ~ normal(Q * theta + alpha, sigma);
}
generated quantities {
  vector[K] beta = R_inv * theta;
}
