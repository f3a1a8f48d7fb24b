data { int T; array[T] int<lower=0> y; }
parameters { vector[T] x; real<lower=0> s; }
model { s ~ normal(0, 1); x[2:T] - x[1:(T - 1)] ~ normal(0, s); y ~ poisson_log(x); }
