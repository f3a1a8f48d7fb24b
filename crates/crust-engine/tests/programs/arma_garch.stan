// ARMA(1, 1) for the level with GARCH(1, 1) errors.
data {
  int<lower=2> T;
  vector[T] y;
}
parameters {
  real mu;
  real<lower=-1, upper=1> phi;
  real<lower=-1, upper=1> theta;
  real<lower=0> omega;
  real<lower=0, upper=1> a;
  real<lower=0, upper=1 - a> b;
}
model {
  real err = y[1] - mu;
  real h = omega / (1 - a - b + 0.01);
  mu ~ normal(0, 2);
  phi ~ normal(0, 0.5);
  theta ~ normal(0, 0.5);
  omega ~ gamma(2, 2);
  target += normal_lpdf(err | 0, sqrt(h));
  for (t in 2:T) {
    h = omega + a * square(err) + b * h;
    err = y[t] - (mu + phi * (y[t - 1] - mu) + theta * err);
    err ~ normal(0, sqrt(h));
  }
}
