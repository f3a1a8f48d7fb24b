// Discrete change point in accident counts; the switch week is summed out with cumulative sums.
data {
  int<lower=2> n_week;
  array[n_week] int<lower=0> accidents;
}
parameters {
  positive_ordered[2] rate_sorted;
  real<lower=0, upper=1> went_up;
}
transformed parameters {
  // log score of "the second regime begins after week w"
  vector[n_week - 1] score;
  {
    vector[n_week] before;
    vector[n_week] after;
    for (w in 1 : n_week) {
      before[w] = poisson_lpmf(accidents[w] | rate_sorted[1]);
      after[w] = poisson_lpmf(accidents[w] | rate_sorted[2]);
    }
    vector[n_week] cum_before = cumulative_sum(before);
    vector[n_week] cum_after = cumulative_sum(after);
    score = cum_before[ : (n_week - 1)] + (cum_after[n_week] - cum_after[ : (n_week - 1)]);
  }
}
model {
  rate_sorted ~ gamma(2, 0.5);
  went_up ~ beta(2, 2);
  target += log_sum_exp(score) - log(n_week - 1);
}
generated quantities {
  int<lower=1> switch_week = categorical_logit_rng(score);
  vector[n_week - 1] posterior_week = softmax(score);
}
