// A low-rank matrix plus noise, both factors kept. BREAD section 5.2; all scales are 1.
data {
  int<lower=1> N;
  int<lower=1> D;
  int<lower=1> K;
  array[N] vector[D] y;
}
parameters {
  array[N] vector[K] u;
  matrix[D, K] v;
}
model {
  to_vector(v) ~ normal(0, 1);
  for (n in 1:N) {
    u[n] ~ normal(0, 1);
    y[n] ~ normal(v * u[n], 1);
  }
}
