// Ordered categories: cut points with a prior on the probabilities of the categories.
functions {
  real induced_dirichlet_lpdf(vector c, vector alpha) {
    int K = size(c) + 1;
    vector[K - 1] sigma = inv_logit(c);
    vector[K] p;
    matrix[K, K] J = rep_matrix(0, K, K);
    p[1] = sigma[1];
    for (k in 2 : K - 1) p[k] = sigma[k] - sigma[k - 1];
    p[K] = 1 - sigma[K - 1];
    for (k in 1:K) J[k, 1] = 1;
    for (k in 2:K) {
      real rho = sigma[k - 1] * (1 - sigma[k - 1]);
      J[k, k] = -rho;
      J[k - 1, k] = rho;
    }
    return dirichlet_lpdf(p | alpha) + log_determinant(J);
  }
}
data {
  int<lower=0> N;
  int<lower=2> K;
  vector[N] x;
  array[N] int<lower=1, upper=K> y;
}
parameters {
  real beta;
  ordered[K - 1] c;
}
model {
  beta ~ normal(0, 1);
  c ~ induced_dirichlet(rep_vector(1.5, K));
  y ~ ordered_logistic(beta * x, c);
  for (n in 1:N) y[n] ~ ordered_probit(0.5 * beta * x[n], c);
}
