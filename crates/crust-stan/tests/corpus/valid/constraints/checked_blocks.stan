// Constraints as run-time checks in transformed data, transformed parameters and generated quantities.
data {
  int<lower=1> n;
  vector[n] raw;
}
transformed data {
  int<lower=0, upper=n> n_pos = 0;
  real<lower=0> ss = dot_self(raw);
  vector<lower=min(raw)>[n] copy = raw;
  simplex[n] weights = softmax(raw);
  array[n] int<lower=1, upper=n> ranks = sort_indices_asc(raw);
  for (i in 1 : n) {
    n_pos += raw[i] > 0;
  }
}
parameters {
  vector[n] theta;
}
transformed parameters {
  vector<lower=0>[n] pos = exp(theta);
  real<lower=0, upper=1> share;
  share = pos[1] / sum(pos);
  array[2] real<upper=0> negs = {-1, -share};
  ordered[n] steps = cumulative_sum(pos);
}
model {
  theta ~ normal(0, 1);
}
generated quantities {
  int<lower=0> c = poisson_rng(sum(pos));
  simplex[n] p = pos / sum(pos);
  cov_matrix[2] s2 = [[2, 0.5], [0.5, 1]];
  array[3] int<lower=0, upper=1> coin = bernoulli_rng(rep_array(share, 3));
  tuple(int<lower=0>, real<lower=0>) both = (c, share);
}
