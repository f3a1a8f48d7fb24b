// Items with correlated discriminations and difficulties.
data { int I; int J; int N; array[N] int ii; array[N] int jj; array[N] int<lower=0, upper=1> y; }
parameters { vector[J] theta; array[I] vector[2] xi; vector[2] mu; vector<lower=0>[2] tau; cholesky_factor_corr[2] L_Omega; }
transformed parameters {
  array[I] vector[2] item;
  for (i in 1:I) {
    item[i, 1] = exp(xi[i, 1]);
    item[i, 2] = xi[i, 2];
  }
}
model {
  matrix[2, 2] L_Sigma = diag_pre_multiply(tau, L_Omega);
  for (i in 1:I) target += multi_normal_cholesky_lpdf(xi[i] | mu, L_Sigma);
  theta ~ normal(0, 1);
  L_Omega ~ lkj_corr_cholesky(4);
  mu[1] ~ normal(0, 1);
  tau[1] ~ exponential(.1);
  mu[2] ~ normal(0, 5);
  tau[2] ~ exponential(.1);
  for (n in 1:N) target += bernoulli_logit_lpmf(y[n] | item[ii[n], 1] * (theta[jj[n]] - item[ii[n], 2]));
}
