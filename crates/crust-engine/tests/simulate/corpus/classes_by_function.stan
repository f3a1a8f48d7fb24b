functions { real cls_lpdf(row_vector y, real p, vector a, real s) { vector[2] lp; lp[1] = log(p); lp[2] = log1m(p); for (k in 1:2) for (t in 1:num_elements(y)) lp[k] += normal_lpdf(y[t] | a[k], s); return log_sum_exp(lp); } }
data { int I; int T; matrix[I, T] y; } parameters { real<lower=0,upper=1> p; ordered[2] a; real<lower=0> s; }
model { a ~ normal(0, 5); s ~ exponential(1); for (i in 1:I) y[i] ~ cls(p, a, s); }
