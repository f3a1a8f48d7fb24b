// observed and censored in two vectors
data { int<lower=0> Nobs; int<lower=0> Ncen; vector[Nobs] yobs; vector[Ncen] ycen; }
parameters { real<lower=0> alpha; real mu; }
model { alpha ~ exponential(1); mu ~ normal(0, 5); yobs ~ weibull(alpha, exp(-mu / alpha)); target += weibull_lccdf(ycen | alpha, exp(-mu / alpha)); }
