data { int T; array[T] int<lower=0> y; }
parameters { vector[T] x; real<lower=0> s; }
model { s ~ normal(0, 1); x[1] ~ normal(0, 5); for (t in 2:T) x[t] ~ normal(x[t - 1], s); y ~ poisson_log(x); }
