// Known: textbook moments of each distribution; its bounds are those of the declaration.
parameters {
  real<lower=0> a_lognormal;
  real<lower=0> an_exponential;
  real<lower=0> a_weibull;
  real<lower=0> an_inverse_gamma;
  real<lower=0> a_chi_square;
  real<lower=0, upper=1> a_beta;
  real a_student_t;
  real a_logistic;
  real<offset=-2, multiplier=0.3> a_double_exponential;
  real a_gumbel;
  real a_skew_normal;
}
model {
  a_lognormal ~ lognormal(0.2, 0.4);
  an_exponential ~ exponential(2);
  a_weibull ~ weibull(2, 3);
  an_inverse_gamma ~ inv_gamma(9, 4);
  a_chi_square ~ chi_square(5);
  a_beta ~ beta_proportion(0.3, 6);
  a_student_t ~ student_t(12, 1, 2);
  a_logistic ~ logistic(1, 0.5);
  a_double_exponential ~ double_exponential(-2, 0.5);
  a_gumbel ~ gumbel(0.5, 2);
  a_skew_normal ~ skew_normal(1, 2, 3);
}
