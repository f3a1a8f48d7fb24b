data { int<lower=2> K; int<lower=0> N; array[N] int<lower=1, upper=K> y; vector[N] x; }
parameters { real beta; ordered[K - 1] c; }
model {
  vector[K] theta;
  for (n in 1:N) {
    real eta = x[n] * beta;
    theta[1] = 1 - inv_logit(eta - c[1]);
    for (k in 2:(K - 1)) theta[k] = inv_logit(eta - c[k - 1]) - inv_logit(eta - c[k]);
    theta[K] = inv_logit(eta - c[K - 1]);
    y[n] ~ categorical(theta);
  }
}
