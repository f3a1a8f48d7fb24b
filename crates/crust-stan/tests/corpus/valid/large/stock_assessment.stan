// Large: age-structured fish stock assessment with catches, surveys, selectivity and projections.
functions {
  vector logistic_selectivity(int n_age, real a50, real slope) {
    vector[n_age] age = linspaced_vector(n_age, 1, n_age);
    return inv_logit(slope * (age - a50));
  }
  vector dome_selectivity(int n_age, real peak, real left_width, real right_width) {
    vector[n_age] s;
    for (a in 1 : n_age) {
      real width = a < peak ? left_width : right_width;
      s[a] = exp(-0.5 * square((a - peak) / width));
    }
    return s;
  }
  // length at age and weight at age
  vector growth(int n_age, real l_inf, real k, real t0) {
    return l_inf * (1 - exp(-k * (linspaced_vector(n_age, 1, n_age) - t0)));
  }
  vector weight_at(vector len, real a, real b) {
    return a * len .^ b;
  }
  // numbers at age under fishing f and natural mortality m, for one year
  vector survive_year(vector n, vector z, real recruits) {
    int A = num_elements(n);
    vector[A] next;
    next[1] = recruits;
    next[2 : A] = n[1 : (A - 1)] .* exp(-z[1 : (A - 1)]);
    next[A] += n[A] * exp(-z[A]);
    return next;
  }
  vector baranov(vector n, vector f, vector z) {
    return n .* f ./ z .* (1 - exp(-z));
  }
  real spawners_per_recruit(vector m, vector f, vector fecundity) {
    int A = num_elements(m);
    real alive = 1;
    real total = 0;
    for (a in 1 : A) {
      total += alive * fecundity[a];
      alive *= exp(-(m[a] + f[a]));
      if (a == A) total += alive / (1 - exp(-(m[a] + f[a]))) * fecundity[a];
    }
    return total;
  }
  real beverton_holt(real ssb, real r0, real h, real phi0) {
    return 4 * h * r0 * ssb / (phi0 * r0 * (1 - h) + (5 * h - 1) * ssb);
  }
  real ricker(real ssb, real r0, real h, real phi0) {
    return ssb / phi0 * (5 * h) ^ (1.25 * (1 - ssb / (phi0 * r0)));
  }
  vector f_equation(vector log_f, vector n, vector sel, real m, vector wt, data real target_catch) {
    vector[num_elements(n)] f = exp(log_f[1]) * sel;
    return [dot_product(baranov(n, f, f + m), wt) - target_catch]';
  }
  real age_comp_lpmf(array[] int y, vector p, real n_eff) {
    return dirichlet_multinomial_lpmf(y | n_eff * p + 1e-6);
  }
}
data {
  int<lower=3> n_age;
  int<lower=2> n_year;
  int<lower=1> n_survey;
  vector<lower=0>[n_year] catch_obs;
  array[n_year, n_age] int<lower=0> catch_age;
  array[n_survey] vector<lower=0>[n_year] index_obs;
  array[n_survey] vector<lower=0>[n_year] index_cv;
  array[n_survey, n_year] int<lower=0, upper=1> index_seen;
  array[n_survey, n_year, n_age] int<lower=0> survey_age;
  array[n_survey] int<lower=1, upper=2> survey_shape;
  vector<lower=0, upper=1>[n_age] mature;
  real<lower=0> lw_a;
  real<lower=0> lw_b;
  int<lower=1, upper=2> recruit_kind;
  int<lower=0> n_project;
  real<lower=0> tac;
}
transformed data {
  real catch_cv = 0.05;
  vector[n_year] log_catch = log(catch_obs + 1e-3);
  int n_log_index = 0;
  for (s in 1 : n_survey) n_log_index += sum(index_seen[s]);
}
parameters {
  real log_r0;
  real<lower=0.2, upper=1> steepness;
  real<lower=0> m_nat;
  sum_to_zero_vector[n_year] rec_dev;
  real<lower=0> rec_sd;
  vector<upper=2>[n_year] log_f;
  tuple(real<lower=1, upper=n_age>, real<lower=0>) fishery_sel;
  array[n_survey] vector<lower=0.1>[3] survey_par;
  vector[n_survey] log_q;
  vector<lower=0>[n_survey] extra_cv;
  positive_ordered[2] log_n_eff;
  tuple(real<lower=0>, real<lower=0>, real<upper=0>) growth_par;
}
transformed parameters {
  vector[n_age] wt = weight_at(growth(n_age, growth_par.1, growth_par.2, growth_par.3), lw_a, lw_b);
  vector[n_age] fecundity = wt .* mature;
  vector[n_age] sel = logistic_selectivity(n_age, fishery_sel.1, fishery_sel.2);
  real phi0 = spawners_per_recruit(rep_vector(m_nat, n_age), zeros_vector(n_age), fecundity);
  array[n_year] vector[n_age] numbers;
  array[n_year] vector[n_age] catch_at_age;
  vector[n_year] ssb;
  vector[n_year] catch_pred;
  array[n_survey] vector[n_age] survey_sel;
  array[n_survey] vector[n_year] index_pred;

  for (s in 1 : n_survey) {
    if (survey_shape[s] == 1) {
      survey_sel[s] = logistic_selectivity(n_age, survey_par[s, 1], survey_par[s, 2]);
    } else {
      survey_sel[s] = dome_selectivity(n_age, survey_par[s, 1], survey_par[s, 2], survey_par[s, 3]);
    }
  }
  // unfished start
  numbers[1, 1] = exp(log_r0);
  for (a in 2 : n_age) numbers[1, a] = numbers[1, a - 1] * exp(-m_nat);
  numbers[1, n_age] /= 1 - exp(-m_nat);
  for (y in 1 : n_year) {
    vector[n_age] f = exp(log_f[y]) * sel;
    vector[n_age] z = f + m_nat;
    ssb[y] = dot_product(numbers[y], fecundity);
    catch_at_age[y] = baranov(numbers[y], f, z);
    catch_pred[y] = dot_product(catch_at_age[y], wt);
    for (s in 1 : n_survey) {
      index_pred[s, y] = exp(log_q[s]) * dot_product(numbers[y] .* exp(-0.5 * z), survey_sel[s] .* wt);
    }
    if (y < n_year) {
      real expected = recruit_kind == 1 ? beverton_holt(ssb[y], exp(log_r0), steepness, phi0) : ricker(ssb[y], exp(log_r0), steepness, phi0);
      numbers[y + 1] = survive_year(numbers[y], z, expected * exp(rec_sd * rec_dev[y] - 0.5 * square(rec_sd)));
    }
  }
}
model {
  log_r0 ~ normal(10, 3);
  (steepness - 0.2) / 0.8 ~ beta(4, 2);
  m_nat ~ lognormal(log(0.2), 0.2);
  rec_dev ~ normal(0, 1);
  rec_sd ~ normal(0.6, 0.2);
  log_f ~ normal(-2, 1);
  fishery_sel.1 ~ normal(3, 1);
  fishery_sel.2 ~ lognormal(0, 0.5);
  for (s in 1 : n_survey) survey_par[s] ~ lognormal(log([3, 1, 2]), 0.5);
  log_q ~ normal(0, 2);
  extra_cv ~ exponential(5);
  log_n_eff ~ normal(3, 1);
  growth_par.1 ~ normal(80, 10);
  growth_par.2 ~ lognormal(-1.5, 0.3);
  -growth_par.3 ~ exponential(2);
  log_catch ~ normal(log(catch_pred + 1e-3), catch_cv);
  for (y in 1 : n_year) {
    if (sum(catch_age[y]) > 0) catch_age[y] ~ age_comp(catch_at_age[y] / sum(catch_at_age[y]), exp(log_n_eff[2]));
    for (s in 1 : n_survey) {
      if (!index_seen[s, y]) continue;
      index_obs[s, y] ~ lognormal(log(index_pred[s, y]), hypot(index_cv[s, y], extra_cv[s]));
      vector[n_age] p = numbers[y] .* survey_sel[s];
      survey_age[s, y] ~ age_comp(p / sum(p), exp(log_n_eff[1]));
    }
  }
}
generated quantities {
  real depletion = ssb[n_year] / (phi0 * exp(log_r0));
  vector[n_project] ssb_future;
  vector[n_project] f_future;
  {
    vector[n_age] n = numbers[n_year];
    for (p in 1 : n_project) {
      vector[1] root = solve_powell_tol(f_equation, [log_f[n_year]]', 1e-8, 1e-6, 500, n, sel, m_nat, wt, tac);
      f_future[p] = exp(root[1]);
      ssb_future[p] = dot_product(n, fecundity);
      real dev = normal_rng(0, 1);
      real expected = recruit_kind == 1 ? beverton_holt(ssb_future[p], exp(log_r0), steepness, phi0) : ricker(ssb_future[p], exp(log_r0), steepness, phi0);
      n = survive_year(n, f_future[p] * sel + m_nat, expected * exp(rec_sd * dev - 0.5 * rec_sd ^ 2));
    }
  }
}
