data { int I; int T; matrix[I, T] y; } parameters { real<lower=0,upper=1> p; ordered[2] a; real<lower=0> s; }
transformed parameters { vector[I] log_lik; for (i in 1:I) { vector[2] lp; lp[1] = log(p) + normal_lpdf(y[i] | a[1], s); lp[2] = log1m(p) + normal_lpdf(y[i] | a[2], s); log_lik[i] = log_sum_exp(lp); } }
model { a ~ normal(0, 5); s ~ exponential(1); target += sum(log_lik); }
