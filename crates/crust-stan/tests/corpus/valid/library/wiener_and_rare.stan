// Rarely used densities: wiener with 4, 5 and 7 parameters, discrete range, hypergeometric, yule-simon and others.
data { int<lower=1> n; vector<lower=0>[n] rt; real<lower=0> rt1; array[n] int k; int k1; vector<lower=0, upper=1>[n] u; vector[n] ang; }
parameters { real<lower=0> a; real<lower=0> t0; real<lower=0, upper=1> w; real v; real<lower=0> sv; real<lower=0> sw; real<lower=0> st; vector<lower=0>[n] av; }
model {
  rt1 ~ wiener(a, t0, w, v); rt ~ wiener(a, t0, w, v); rt1 ~ wiener(a, t0, w, v, sv); rt1 ~ wiener(a, t0, w, v, sv, sw, st); target += wiener_lpdf(rt1 | a, t0, w, v) + wiener_lcdf_unnorm(rt1, a, t0, w, v) + wiener_lccdf_unnorm(rt1, a, t0, w, v);
  k ~ discrete_range(1, 10); k1 ~ hypergeometric(5, 10, 20); k ~ yule_simon(a); k ~ beta_neg_binomial(a, sv, sw); u ~ beta_proportion(w, a); ang ~ von_mises(v, a); rt ~ exp_mod_normal(v, a, sv); rt ~ skew_normal(v, a, sw); rt ~ skew_double_exponential(v, a, w); rt ~ pareto(t0, a); rt ~ pareto_type_2(0, a, sv); rt ~ frechet(a, sv); rt ~ rayleigh(a); rt ~ gumbel(v, a); rt ~ loglogistic(a, sv); rt ~ scaled_inv_chi_square(a, sv); rt ~ inv_chi_square(a); rt ~ inv_gamma(a, sv); rt ~ double_exponential(v, a); ang ~ logistic(v, av);
}
