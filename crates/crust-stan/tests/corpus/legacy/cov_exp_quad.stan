// Retired: `cov_exp_quad`, now gp_exp_quad_cov.
data { int<lower=1> n; array[n] real x; vector[n] y; array[2] vector[2] z; }
parameters { real<lower=0> a; real<lower=0> l; }
model {
  matrix[n, n] K = add_diag(cov_exp_quad(x, a, l), 1e-6);
  matrix[2, 2] K2 = cov_exp_quad(z, a, l);
  matrix[n, n] K3 = cov_exp_quad(x, x, a, l);
  y ~ multi_normal(rep_vector(0, n), K);
}
