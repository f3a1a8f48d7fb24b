// Dirichlet-multinomial counts with a function of the program.
functions {
  real dm_lpmf(array[] int n, vector alpha) {
    real total = sum(alpha);
    return lgamma(total) + sum(lgamma(alpha + to_vector(n))) - lgamma(total + sum(n)) - sum(lgamma(alpha));
  }
}
data { int G; int K; array[G, K] int n; }
parameters { simplex[K] theta; real<lower=0> kappa; array[G] simplex[K] p; }
model {
  theta ~ dirichlet(rep_vector(1, K));
  kappa ~ gamma(2, 0.1);
  for (g in 1:G) {
    p[g] ~ dirichlet(kappa * theta);
    target += dm_lpmf(n[g] | kappa * theta + p[g]);
    n[g] ~ multinomial(p[g]);
  }
}
