// Item response with discriminations.
data { int I; int J; int N; array[N] int ii; array[N] int jj; array[N] int<lower=0, upper=1> y; }
parameters { vector<lower=0>[I] a; vector[I] b; vector[J] theta; real<lower=0> sigma_b; real mu_b; }
model {
  a ~ lognormal(0, 0.5);
  mu_b ~ normal(0, 2);
  sigma_b ~ cauchy(0, 2);
  b ~ normal(mu_b, sigma_b);
  theta ~ normal(0, 1);
  y ~ bernoulli_logit(a[ii] .* (theta[jj] - b[ii]));
}
