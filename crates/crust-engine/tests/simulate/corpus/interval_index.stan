data { int N; int K; vector[N] x; array[N] int<lower=1,upper=K+1> k; vector[K] cuts; }
parameters { real a; real b; real<lower=0> s; }
model { a ~ normal(0,2); b ~ normal(0,2); s ~ exponential(1);
 for (n in 1:N) { real m = a + b*x[n];
  if (k[n]==1) target += normal_lcdf(cuts[1] | m, s);
  else if (k[n]==K+1) target += normal_lccdf(cuts[K] | m, s);
  else target += log_diff_exp(normal_lcdf(cuts[k[n]] | m, s), normal_lcdf(cuts[k[n]-1] | m, s)); } }
