functions {
  real zero_inflated_poisson_log_lpmf(int y, real eta, real zi) {
    if (y == 0) { return log_sum_exp(bernoulli_lpmf(1 | zi), bernoulli_lpmf(0 | zi) + poisson_log_lpmf(0 | eta)); }
    else { return bernoulli_lpmf(0 | zi) + poisson_log_lpmf(y | eta); }
  }
}
data { int<lower=1> N; array[N] int Y; vector[N] x; int prior_only; }
parameters { real Intercept; real b; real<lower=0, upper=1> zi; }
transformed parameters { real lprior = 0; lprior += student_t_lpdf(Intercept | 3, 0.7, 2.5); lprior += beta_lpdf(zi | 1, 1); }
model {
  if (!prior_only) {
    vector[N] mu = rep_vector(0.0, N);
    mu += Intercept + b * x;
    for (n in 1:N) { target += zero_inflated_poisson_log_lpmf(Y[n] | mu[n], zi); }
  }
  target += lprior;
}
