// Stochastic volatility for several assets with a shared persistence, states as an array of vectors.
data {
  int<lower=2> n_day;
  int<lower=1> n_asset;
  array[n_day] row_vector[n_asset] ret;
}
parameters {
  row_vector[n_asset] base;
  real<lower=0, upper=1> persist_half;
  row_vector<lower=0>[n_asset] vol_of_vol;
  array[n_day] row_vector[n_asset] innovation;
}
transformed parameters {
  real persist = 2 * persist_half - 1;
  array[n_day] row_vector[n_asset] log_var;
  log_var[1] = base + innovation[1] .* vol_of_vol * inv_sqrt(1 - persist ^ 2);
  for (d in 2 : n_day) {
    log_var[d] = base + persist * (log_var[d - 1] - base) + vol_of_vol .* innovation[d];
  }
}
model {
  base ~ normal(-8, 3);
  persist_half ~ beta(20, 1.5);
  vol_of_vol ~ exponential(4);
  for (d in 1 : n_day) {
    innovation[d] ~ std_normal();
    ret[d] ~ normal(0, exp(0.5 * log_var[d]));
  }
}
generated quantities {
  row_vector[n_asset] tomorrow = to_row_vector(normal_rng(base + persist * (log_var[n_day] - base), vol_of_vol));
}
