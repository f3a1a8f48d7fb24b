// Spatial effects on a lattice.
functions {
  real icar_normal_lpdf(vector phi, int N, array[] int node1, array[] int node2) {
    return -0.5 * dot_self(phi[node1] - phi[node2]) + normal_lpdf(sum(phi) | 0, 0.001 * N);
  }
}
data {
  int N; int E; array[E] int node1; array[E] int node2;
  array[N] int y; vector[N] log_E; int K; matrix[N, K] x; real scaling;
}
parameters { real beta0; vector[K] betas; real<lower=0> sigma; real<lower=0, upper=1> rho; vector[N] theta; vector[N] phi; }
transformed parameters { vector[N] convolved = sqrt(1 - rho) * theta + sqrt(rho / scaling) * phi; }
model {
  y ~ poisson_log(log_E + beta0 + x * betas + convolved * sigma);
  phi ~ icar_normal(N, node1, node2);
  beta0 ~ normal(0, 1);
  betas ~ normal(0, 1);
  theta ~ normal(0, 1);
  sigma ~ normal(0, 1);
  rho ~ beta(0.5, 0.5);
}
