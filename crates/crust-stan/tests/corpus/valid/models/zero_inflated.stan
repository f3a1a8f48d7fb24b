// Fish counts with excess zeros: an inflated mass function over arrays and a hurdle variant, chosen by data.
functions {
  real inflated_lpmf(array[] int caught, vector logit_none, vector log_mean) {
    real ll = 0;
    for (i in 1 : size(caught)) {
      real some = log1m_inv_logit(logit_none[i]) + poisson_log_lpmf(caught[i] | log_mean[i]);
      ll += caught[i] == 0 ? log_sum_exp(log_inv_logit(logit_none[i]), some) : some;
    }
    return ll;
  }
  real hurdle_lpmf(array[] int caught, vector logit_none, vector log_mean) {
    real ll = 0;
    for (i in 1 : size(caught)) {
      if (caught[i] == 0) {
        ll += log_inv_logit(logit_none[i]);
        continue;
      }
      ll += log1m_inv_logit(logit_none[i]) + poisson_log_lpmf(caught[i] | log_mean[i]) - log1m_exp(-exp(log_mean[i]));
    }
    return ll;
  }
}
data {
  int<lower=1> n_party;
  array[n_party] int<lower=0> caught;
  matrix[n_party, 2] x;
  int<lower=0, upper=1> use_hurdle;
}
parameters {
  matrix[2, 2] coef;
  row_vector[2] level;
}
transformed parameters {
  matrix[n_party, 2] eta = x * coef + rep_matrix(level, n_party);
}
model {
  to_vector(coef) ~ normal(0, 1);
  level ~ normal(0, 2);
  if (use_hurdle) caught ~ hurdle(eta[ : , 1], eta[ : , 2]);
  else caught ~ inflated(eta[ : , 1], eta[ : , 2]);
}
