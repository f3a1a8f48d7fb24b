// Variables named like library functions and distributions; calls still reach the library.
data { real sin; vector[2] mean; int size; real normal; real normal_lpdf; array[2] real sum; real pi; real e; real max; real poisson_rng; }
transformed data {
  real a = sin(sin) + mean(mean) + size(sum) + sum(sum) + max(sum) + max + pi() * pi + e() - e;
  int beta = 2;
  real log = log(3.0);
}
parameters { real gamma; real<lower=0> exponential; vector[2] Phi; }
model {
  normal ~ normal(normal, 1);
  exponential ~ exponential(exponential);
  gamma ~ normal(beta, 1);
  Phi ~ normal(Phi(gamma), 1);
  real dims = 2;
  target += log(dims) + log;
}
