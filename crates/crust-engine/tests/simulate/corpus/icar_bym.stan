data { int<lower=0> N; int<lower=0> N_edges; array[N_edges] int<lower=1, upper=N> node1; array[N_edges] int<lower=1, upper=N> node2; array[N] int<lower=0> y; vector<lower=0>[N] E; }
transformed data { vector[N] log_E = log(E); }
parameters { real beta0; real<lower=0> tau_theta; real<lower=0> tau_phi; vector[N] theta; vector[N] phi; }
transformed parameters { real<lower=0> sigma_theta = inv(sqrt(tau_theta)); real<lower=0> sigma_phi = inv(sqrt(tau_phi)); }
model {
  y ~ poisson_log(log_E + beta0 + phi * sigma_phi + theta * sigma_theta);
  target += -0.5 * dot_self(phi[node1] - phi[node2]);
  sum(phi) ~ normal(0, 0.001 * N);
  beta0 ~ normal(0.0, 5.0); theta ~ normal(0.0, 1.0); tau_theta ~ gamma(3.2761, 1.81); tau_phi ~ gamma(1, 1);
}
