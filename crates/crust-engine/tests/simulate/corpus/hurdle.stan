data { int<lower=0> N; array[N] int<lower=0> y; }
parameters { real<lower=0, upper=1> theta; real<lower=0> lambda; }
model {
  theta ~ beta(1, 1); lambda ~ exponential(0.5);
  for (n in 1:N) {
    if (y[n] == 0) 1 ~ bernoulli(theta);
    else { 0 ~ bernoulli(theta); y[n] ~ poisson(lambda) T[1, ]; }
  }
}
