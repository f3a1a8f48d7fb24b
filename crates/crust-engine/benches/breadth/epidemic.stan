// A renewal model of an epidemic: convolutions in loops, local arrays.
data {
  int M; int P; int N0; int N; int EpidemicStart;
  array[N, M] int deaths; array[N, M] real f; array[N, M] real x1; array[N, M] real x2; array[N] real SI;
}
parameters { array[M] real<lower=0> mu; array[P] real<lower=0> alpha; real<lower=0> kappa; array[M] real<lower=0> y; real<lower=0> phi; real<lower=0> tau; }
transformed parameters {
  matrix[N, M] prediction = rep_matrix(0, N, M);
  matrix[N, M] E_deaths = rep_matrix(0, N, M);
  matrix[N, M] Rt = rep_matrix(0, N, M);
  for (m in 1:M) {
    for (i in 1:N0) prediction[i, m] = y[m];
    for (i in 1:N) Rt[i, m] = mu[m] * exp(-alpha[1] * x1[i, m] - alpha[2] * x2[i, m]);
    for (i in (N0 + 1):N) {
      real convolution = 0;
      for (j in 1:(i - 1)) convolution += prediction[j, m] * SI[i - j];
      prediction[i, m] = Rt[i, m] * convolution;
    }
    E_deaths[1, m] = 1e-9;
    for (i in 2:N) {
      E_deaths[i, m] = 0;
      for (j in 1:(i - 1)) E_deaths[i, m] += prediction[j, m] * f[i - j, m];
    }
  }
}
model {
  tau ~ exponential(0.03);
  for (m in 1:M) y[m] ~ exponential(1.0 / tau);
  phi ~ normal(0, 5);
  kappa ~ normal(0, 0.5);
  mu ~ normal(2.4, kappa);
  alpha ~ gamma(.5, 1);
  for (m in 1:M) for (i in EpidemicStart:N) deaths[i, m] ~ neg_binomial_2(E_deaths[i, m], phi);
}
