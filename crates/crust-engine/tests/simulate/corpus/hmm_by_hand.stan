// two states, known forward algorithm
data { int<lower=0> N; array[N] real y; }
parameters { simplex[2] theta1; simplex[2] theta2; positive_ordered[2] mu; }
transformed parameters { array[2] simplex[2] theta; theta[1] = theta1; theta[2] = theta2; }
model {
  target += normal_lpdf(mu[1] | 3, 1); target += normal_lpdf(mu[2] | 10, 1);
  { array[2] real acc; array[N, 2] real gamma;
    for (k in 1:2) gamma[1, k] = normal_lpdf(y[1] | mu[k], 1);
    for (t in 2:N) for (k in 1:2) {
      for (j in 1:2) acc[j] = gamma[t - 1, j] + log(theta[j, k]) + normal_lpdf(y[t] | mu[k], 1);
      gamma[t, k] = log_sum_exp(acc);
    }
    target += log_sum_exp(gamma[N]); }
}
