// Multivariate distributions with single and array arguments.
data { int<lower=1> n; int<lower=2> d; array[n] vector[d] y; array[n] row_vector[d] yr; vector[d] y1; matrix[d, n] Y; array[d] int counts; int<lower=1, upper=d> cat; array[n] int<lower=1, upper=d> cats; }
parameters { vector[d] mu; array[n] vector[d] mus; cov_matrix[d] S; cholesky_factor_cov[d] L; corr_matrix[d] R; cholesky_factor_corr[d] LR; simplex[d] th; vector<lower=0>[d] al; real<lower=0> nu; vector<lower=0>[d] w; ordered[d - 1] cut; real eta; }
model {
  y ~ multi_normal(mu, S); y ~ multi_normal(mus, S); y1 ~ multi_normal(mu, S); yr ~ multi_normal(mu, S); y1' ~ multi_normal(mu', S); y ~ multi_normal_cholesky(mu, L); y1 ~ multi_normal_prec(mu, S); y ~ multi_student_t(nu, mu, S); y1 ~ multi_student_t_cholesky(nu, mu, L);
  Y ~ multi_gp(S, w); Y ~ multi_gp_cholesky(L, w); Y ~ gaussian_dlm_obs(S, S, S, S, mu, S); Y ~ gaussian_dlm_obs(S, S, w, S, mu, S);
  S ~ wishart(d + 1.0, S); S ~ inv_wishart(d + 2, S); L ~ wishart_cholesky(d + 1, L); L ~ inv_wishart_cholesky(d + 1, L); R ~ lkj_corr(2); LR ~ lkj_corr_cholesky(1.5);
  th ~ dirichlet(al); counts ~ multinomial(th); counts ~ multinomial_logit(mu); counts ~ dirichlet_multinomial(al); cat ~ categorical(th); cats ~ categorical(th); cat ~ categorical_logit(mu); cats ~ categorical_logit(mu);
  cat ~ ordered_logistic(eta, cut); cats ~ ordered_logistic(rep_vector(eta, n), cut); cat ~ ordered_probit(eta, cut); cats ~ ordered_logistic(mu[1 : n], rep_array(cut, n));
}
generated quantities {
  vector[d] g1 = multi_normal_rng(mu, S); array[n] vector[d] g2 = multi_normal_rng(mus, S); vector[d] g3 = multi_normal_cholesky_rng(mu, L); vector[d] g4 = dirichlet_rng(al); array[d] int g5 = multinomial_rng(th, 10); int g6 = categorical_rng(th); int g7 = categorical_logit_rng(mu); matrix[d, d] g8 = wishart_rng(d + 1, S); matrix[d, d] g9 = lkj_corr_rng(d, 1); int g10 = ordered_logistic_rng(eta, cut); vector[d] g11 = multi_student_t_rng(nu, mu, S); array[d] int g12 = multinomial_logit_rng(mu, 4); array[d] int g13 = dirichlet_multinomial_rng(al, 7); matrix[d, d] g14 = inv_wishart_rng(d + 2, S); vector[d] g15 = multi_student_t_cholesky_rng(nu, mu, L);
}
