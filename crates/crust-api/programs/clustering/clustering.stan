// Points in D dimensions fall into K clusters of equal weight with spherical noise; the cluster of each point is summed out.
// The log densities of all points in all clusters come from one matrix product: |y - theta|^2 = |y|^2 - 2 y theta + |theta|^2.
data {
  int<lower=1> N;                 // points
  int<lower=1> D;                 // coordinates of each
  int<lower=1> K;                 // clusters
  real<lower=0> sigma_theta;      // deviation of centres
  real<lower=0> sigma_n;          // deviation of points from their centre
  matrix[N, D] y;
}
transformed data {
  matrix[N, D] scaled = y / square(sigma_n);
  vector[N] own = -0.5 * rows_dot_self(y) / square(sigma_n) - D * log(sigma_n) - 0.5 * D * log(2 * pi()) - log(K);
}
parameters {
  matrix[D, K] theta;             // a centre in each column
}
model {
  matrix[N, K] cross = scaled * theta;
  row_vector[K] size = -0.5 * columns_dot_self(theta) / square(sigma_n);
  to_vector(theta) ~ normal(0, sigma_theta);
  for (n in 1:N) {
    target += own[n] + log_sum_exp(cross[n] + size);
  }
}
generated quantities {
  matrix[N, D] y_sim;
  for (n in 1:N) {
    int z = categorical_rng(rep_vector(1.0 / K, K));
    for (d in 1:D) {
      y_sim[n, d] = normal_rng(theta[d, z], sigma_n);
    }
  }
}
