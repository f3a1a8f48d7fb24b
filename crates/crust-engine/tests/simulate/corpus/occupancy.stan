data { int<lower=1> R; int<lower=1> T; array[R, T] int<lower=0, upper=1> y; vector[R] X; }
parameters { real alpha_occ; real beta_occ; real alpha_p; }
transformed parameters { vector[R] logit_psi = alpha_occ + beta_occ * X; real logit_p = alpha_p; }
model {
  alpha_occ ~ normal(0, 1.5); beta_occ ~ normal(0, 1.5); alpha_p ~ normal(0, 1.5);
  for (i in 1:R) {
    if (sum(y[i]) > 0) target += bernoulli_logit_lpmf(1 | logit_psi[i]) + bernoulli_logit_lpmf(y[i] | logit_p);
    else target += log_sum_exp(bernoulli_logit_lpmf(1 | logit_psi[i]) + bernoulli_logit_lpmf(y[i] | logit_p), bernoulli_logit_lpmf(0 | logit_psi[i]));
  }
}
