// Site occupancy with imperfect detection.
data {
  int<lower=1> n_site;
  int<lower=1> n_visit;
  array[n_site, n_visit] int<lower=0, upper=1> seen;
  vector[n_site] forest;
}
transformed data {
  array[n_site] int<lower=0, upper=n_visit> total;
  for (s in 1 : n_site) total[s] = sum(seen[s]);
}
parameters {
  vector[2] a;
  real b;
}
model {
  vector[n_site] logit_psi = a[1] + a[2] * forest;
  a ~ normal(0, 1.5);
  b ~ normal(0, 1.5);
  for (s in 1 : n_site) {
    real detect = binomial_logit_lpmf(total[s] | n_visit, b);
    if (total[s] > 0) {
      target += log_inv_logit(logit_psi[s]) + detect;
    } else {
      target += log_sum_exp(log_inv_logit(logit_psi[s]) + detect, log1m_inv_logit(logit_psi[s]));
    }
  }
}
