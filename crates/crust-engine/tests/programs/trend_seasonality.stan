// A piecewise linear or saturating trend with change points, plus Fourier seasonality.
functions {
  matrix changes(vector t, vector t_change) {
    int T = size(t);
    int S = size(t_change);
    matrix[T, S] A = rep_matrix(0, T, S);
    row_vector[S] a = rep_row_vector(0, S);
    int cp = 1;
    for (i in 1:T) {
      while (cp <= S && t[i] >= t_change[cp]) {
        a[cp] = 1;
        cp += 1;
      }
      A[i] = a;
    }
    return A;
  }
  vector logistic_gamma(real k, real m, vector delta, vector t_change) {
    int S = size(delta);
    vector[S] gamma;
    vector[S + 1] k_s = append_row(k, k + cumulative_sum(delta));
    real m_pr = m;
    for (i in 1:S) {
      gamma[i] = (t_change[i] - m_pr) * (1 - k_s[i] / k_s[i + 1]);
      m_pr += gamma[i];
    }
    return gamma;
  }
}
data {
  int<lower=1> T;
  int<lower=1> S;
  int<lower=1> K;
  vector[T] t;
  vector[T] y;
  vector[S] t_change;
  matrix[T, K] X;
  int<lower=0, upper=1> saturating;
  vector[T] cap;
}
transformed data {
  matrix[T, S] A = changes(t, t_change);
}
parameters {
  real k;
  real m;
  vector[S] delta;
  real<lower=0> sigma;
  vector[K] beta;
}
transformed parameters {
  vector[T] trend;
  if (saturating) {
    vector[S] gamma = logistic_gamma(k, m, delta, t_change);
    trend = cap .* inv_logit((k + A * delta) .* (t - (m + A * gamma)));
  } else {
    trend = (k + A * delta) .* t + (m + A * (-t_change .* delta));
  }
}
model {
  k ~ normal(0, 5);
  m ~ normal(0, 5);
  delta ~ double_exponential(0, 0.5);
  sigma ~ normal(0, 0.5);
  beta ~ normal(0, 2);
  y ~ normal(trend + X * beta, sigma);
}
