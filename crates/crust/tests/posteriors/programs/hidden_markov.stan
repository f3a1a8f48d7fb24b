// Known: given the path of states the rows of the transition matrix are betas; sum over all paths.
data {
  int<lower=1> T;
  vector[T] y;
  vector[2] centre;
}
transformed data {
  matrix[2, T] log_omega;
  for (t in 1 : T) 
    for (k in 1 : 2) 
      log_omega[k, t] = normal_lpdf(y[t] | centre[k], 1);
}
parameters {
  array[2] real<lower=0, upper=1> stay;
}
transformed parameters {
  matrix[2, 2] Gamma = [[stay[1], 1 - stay[1]], [1 - stay[2], stay[2]]];
  vector[2] rho = [0.5, 0.5]';
}
model {
  stay ~ beta(3, 2);
  target += hmm_marginal(log_omega, Gamma, rho);
}
generated quantities {
  int in_second = sum(hmm_latent_rng(log_omega, Gamma, rho)) - T;
}
