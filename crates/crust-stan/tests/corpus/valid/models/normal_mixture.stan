// Mixture of galaxy velocities; log_mix over arrays of densities, with the responsibilities as output.
data {
  int<lower=1> n_galaxy;
  int<lower=1> n_cluster;
  vector[n_galaxy] velocity;
}
transformed data {
  real centre = mean(velocity);
  real width = sd(velocity);
}
parameters {
  simplex[n_cluster] share;
  ordered[n_cluster] where_std;
  vector<lower=0>[n_cluster] spread;
}
transformed parameters {
  vector[n_cluster] where_is = centre + width * where_std;
  matrix[n_galaxy, n_cluster] dens;
  for (g in 1 : n_galaxy) {
    for (c in 1 : n_cluster) {
      dens[g, c] = normal_lpdf(velocity[g] | where_is[c], spread[c]);
    }
  }
}
model {
  share ~ dirichlet(rep_vector(2, n_cluster));
  where_std ~ normal(0, 2);
  spread / width ~ lognormal(-1, 0.7);
  for (g in 1 : n_galaxy) target += log_mix(share, dens[g]);
}
generated quantities {
  matrix[n_galaxy, n_cluster] responsibility;
  for (g in 1 : n_galaxy) responsibility[g] = softmax(log(share) + dens[g]')';
}
