// A latent Gaussian process behind counts, with a Matern kernel and a periodic kernel written as a loop.
functions {
  matrix periodic(array[] real x, real amplitude, real length, real period) {
    int N = size(x);
    matrix[N, N] K;
    for (i in 1:N) {
      K[i, i] = square(amplitude) + 1e-6;
      for (j in i + 1 : N) {
        K[i, j] = square(amplitude) * exp(-2 * square(sin(pi() * abs(x[i] - x[j]) / period)) / square(length));
        K[j, i] = K[i, j];
      }
    }
    return K;
  }
}
data {
  int<lower=1> N;
  array[N] real x;
  array[N] int<lower=0> y;
}
parameters {
  real<lower=0> rho;
  real<lower=0> alpha;
  real<lower=0> length;
  real level;
  vector[N] eta;
}
transformed parameters {
  vector[N] f;
  {
    matrix[N, N] K = gp_matern32_cov(x, alpha, rho) + periodic(x, 0.5, length, 1.7);
    f = level + cholesky_decompose(K) * eta;
  }
}
model {
  rho ~ gamma(25, 4);
  alpha ~ normal(0, 2);
  length ~ lognormal(0, 1);
  level ~ normal(0, 1);
  eta ~ std_normal();
  y ~ poisson_log(f);
}
