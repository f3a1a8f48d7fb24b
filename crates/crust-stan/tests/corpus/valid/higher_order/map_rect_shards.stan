// map_rect over shards of a regression.
functions {
  vector shard(vector beta, vector local_par, data array[] real x, data array[] int y) {
    int n = y[1];
    real lp = 0;
    for (i in 1 : n) lp += bernoulli_logit_lpmf(y[i + 1] | beta[1] + beta[2] * x[i] + local_par[1]);
    return [lp]';
  }
}
data { int<lower=1> k; int<lower=1> m; array[k, m] real x; array[k, m + 1] int y; }
parameters { vector[2] beta; array[k] vector[1] u; real<lower=0> tau; }
model {
  beta ~ normal(0, 2);
  tau ~ exponential(1);
  for (j in 1 : k) u[j] ~ normal(0, tau);
  target += sum(map_rect(shard, beta, u, x, y));
}
