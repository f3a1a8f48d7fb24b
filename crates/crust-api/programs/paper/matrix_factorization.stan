// Matrix factorization as the BREAD paper (appendix C) writes it, in the Stan of 2016. Missing entries of Y are below
// -999999. Data: ../movielens/matrix.json, made by ../movielens/fetch.py
data {
  int N;
  int L;
  int D;
  matrix[N,D] Y;
}
parameters {
  real<lower=0> scale_u_sq;
  real<lower=0> scale_v_sq;
  real<lower=0> sigma_sq;
  matrix[N,L] U;
  matrix[L,D] V;
}
model {
  matrix[N,D] UV;
  scale_u_sq ~ inv_gamma(1, 1);
  scale_v_sq ~ inv_gamma(1, 1);
  sigma_sq ~ inv_gamma(1, 1);
  for (i in 1:N)
    for (j in 1:L)
      U[i,j] ~ normal(0, sqrt(scale_u_sq));
  for (i in 1:L)
    for (j in 1:D)
      V[i,j] ~ normal(0, sqrt(scale_v_sq));
  UV <- U * V;
  for (i in 1:N)
    for (j in 1:D)
      if (Y[i,j] > -999999)
        Y[i,j] ~ normal(UV[i,j], sqrt(sigma_sq));
}
