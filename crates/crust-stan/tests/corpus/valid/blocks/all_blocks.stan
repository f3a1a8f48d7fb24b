// All seven blocks together, each with content that uses the earlier ones.
functions {
  vector centred(vector v) {
    return v - mean(v);
  }
}
data {
  int<lower=2> n_sites;
  vector[n_sites] elevation;
  array[n_sites] int<lower=0> birds;
}
transformed data {
  vector[n_sites] elevation_c = centred(elevation);
}
parameters {
  real intercept;
  real slope;
}
transformed parameters {
  vector[n_sites] log_rate = intercept + slope * elevation_c;
}
model {
  intercept ~ normal(0, 2);
  slope ~ normal(0, 1);
  birds ~ poisson_log(log_rate);
}
generated quantities {
  array[n_sites] int birds_rep = poisson_log_rng(log_rate);
}
