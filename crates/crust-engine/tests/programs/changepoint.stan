// Two change points of a Poisson rate, summed out with cumulative sums.
data {
  int<lower=3> T;
  array[T] int<lower=0> y;
  real<lower=0> rate;
}
transformed data {
  real log_unif = -log(T);
}
parameters {
  real<lower=0> early;
  real<lower=0> late;
}
transformed parameters {
  vector[T] lp;
  {
    vector[T + 1] lp_early;
    vector[T + 1] lp_late;
    lp_early[1] = 0;
    lp_late[1] = 0;
    for (t in 1:T) {
      lp_early[t + 1] = lp_early[t] + poisson_lpmf(y[t] | early);
      lp_late[t + 1] = lp_late[t] + poisson_lpmf(y[t] | late);
    }
    lp = rep_vector(log_unif + lp_late[T + 1], T) + head(lp_early, T) - head(lp_late, T);
  }
}
model {
  early ~ exponential(rate);
  late ~ exponential(rate);
  target += log_sum_exp(lp);
}
generated quantities {
  int<lower=1, upper=T> s = categorical_logit_rng(lp);
}
