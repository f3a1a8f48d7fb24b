data { int<lower=1> I; int<lower=1> J; int<lower=1> N; array[N] int<lower=1, upper=I> ii; array[N] int<lower=1, upper=J> jj; array[N] int<lower=0, upper=1> y; }
parameters { vector<lower=0>[I] alpha; vector[I - 1] beta_free; vector[J] theta; }
transformed parameters { vector[I] beta; for (i in 1:(I - 1)) beta[i] = beta_free[i]; beta[I] = -sum(beta_free); }
model { alpha ~ lognormal(1, 1); beta ~ normal(0, 3); theta ~ normal(0, 1); y ~ bernoulli_logit(alpha[ii] .* (theta[jj] - beta[ii])); }
