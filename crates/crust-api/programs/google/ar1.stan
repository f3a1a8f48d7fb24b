// Daily prices of a stock: each is a linear function of the one before, plus noise. The first price is given, not modelled.
data {
  int<lower=2> N;                 // trading days
  vector[N] y;                    // closing price in US dollars
}
parameters {
  real alpha;
  real beta;                      // near 1: prices are close to a random walk
  real<lower=0> sigma_sq;         // variance of the daily change
}
model {
  alpha ~ normal(0, 1);
  beta ~ normal(1, 0.1);
  sigma_sq ~ inv_gamma(1, 1);
  for (n in 2:N) {
    y[n] ~ normal(alpha + beta * y[n - 1], sqrt(sigma_sq));
  }
}
