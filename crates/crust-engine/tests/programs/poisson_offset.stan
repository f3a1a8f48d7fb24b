// Counts with an exposure, group effects that sum to zero and overdispersion by observation.
data {
  int<lower=0> N;
  int<lower=1> G;
  array[N] int<lower=1, upper=G> group;
  vector<lower=0>[N] exposure;
  array[N] int<lower=0> y;
}
transformed data {
  vector[N] log_exposure = log(exposure);
}
parameters {
  real alpha;
  sum_to_zero_vector[G] effect;
  vector[N] noise;
  real<lower=0> tau;
  real<lower=0> phi;
}
model {
  alpha ~ normal(0, 2);
  effect ~ normal(0, tau * sqrt(G * inv(G - 1)));
  tau ~ normal(0, 1);
  noise ~ std_normal();
  phi ~ exponential(2);
  y ~ poisson_log(log_exposure + alpha + effect[group] + phi * noise);
}
