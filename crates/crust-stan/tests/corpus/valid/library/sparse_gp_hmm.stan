// Sparse (CSR) functions, Gaussian process kernels and hidden Markov functions.
data { int<lower=1> n; int<lower=1> k; matrix[n, n] X; vector[n] b; array[n] real xs; array[n] vector[2] xv; array[k] real ys; array[k] vector[2] yv; }
transformed data {
  vector[n] cw = csr_extract_w(X)[1 : n];
  array[n] int cv = csr_extract_v(X)[1 : n];
  array[n + 1] int cu = csr_extract_u(X);
  tuple(vector[n], array[n] int, array[n + 1] int) all_three = csr_extract(X);
  vector[n] prod_b = csr_matrix_times_vector(n, n, cw, cv, cu, b);
  matrix[n, n] dense = csr_to_dense_matrix(n, n, cw, cv, cu);
}
parameters { real<lower=0> a; real<lower=0> l; vector<lower=0>[2] ls; real<lower=0> p; array[k] simplex[k] G; simplex[k] rho; matrix[k, n] lo; }
transformed parameters {
  matrix[n, n] K = gp_exp_quad_cov(xs, a, l) + gp_exp_quad_cov(xv, a, {l, 1.5}) + gp_matern32_cov(xs, a, l) + gp_matern52_cov(xv, a, l) + gp_exponential_cov(xs, a, l) + gp_periodic_cov(xs, a, l, p) + gp_dot_prod_cov(xs, a) + gp_dot_prod_cov(xv, a);
  matrix[n, k] Kc = gp_exp_quad_cov(xs, ys, a, l) + gp_matern32_cov(xv, yv, a, l) + gp_matern52_cov(xs, ys, a, l) + gp_exponential_cov(xv, yv, a, {l, l}) + gp_periodic_cov(xs, ys, a, l, p) + gp_dot_prod_cov(xs, ys, a);
  matrix[k, k] Gamma;
  for (j in 1 : k) Gamma[j] = G[j]';
}
model { target += hmm_marginal(lo, Gamma, rho); }
generated quantities {
  matrix[k, n] probs = hmm_hidden_state_prob(lo, Gamma, rho);
  array[n] int states = hmm_latent_rng(lo, Gamma, rho);
}
