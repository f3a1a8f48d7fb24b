// Large: population pharmacokinetics and -dynamics with dosing events, analytic and ODE parts, and limits of quantification.
functions {
  // concentration after one oral dose in a one-compartment body
  real single_dose(real t, real dose, real ka, real ke, real v) {
    if (t <= 0) return 0;
    if (abs(ka - ke) < 1e-6) {
      return dose / v * ke * t * exp(-ke * t);
    }
    return dose / v * ka / (ka - ke) * (exp(-ke * t) - exp(-ka * t));
  }

  // superposition of all doses
  vector concentration(array[] real time, data array[] real dose_time, data array[] real dose, real ka, real cl, real v) {
    vector[size(time)] c = rep_vector(0, size(time));
    for (j in 1 : size(dose_time)) {
      for (i in 1 : size(time)) {
        c[i] += single_dose(time[i] - dose_time[j], dose[j], ka, cl / v, v);
      }
    }
    return c;
  }

  // indirect response: production is inhibited by the drug
  vector turnover(real t, vector r, real kin, real kout, real imax, real ic50, data array[] real dose_time, data array[] real dose, real ka, real cl, real v) {
    real c = concentration({t}, dose_time, dose, ka, cl, v)[1];
    real inhibit = imax * c / (ic50 + c);
    return [kin * (1 - inhibit) - kout * r[1]]';
  }

  real censored_lpdf(vector y, vector mu, real sigma, data array[] int below, data real limit) {
    real ll = 0;
    for (i in 1 : num_elements(y)) {
      if (below[i] == 1) {
        ll += lognormal_lcdf(limit | log(mu[i] + 1e-10), sigma);
      } else {
        ll += lognormal_lpdf(y[i] | log(mu[i] + 1e-10), sigma);
      }
    }
    return ll;
  }

  array[] int ragged_start(array[] int len) {
    int n = size(len);
    array[n] int start;
    int pos = 1;
    for (i in 1 : n) {
      start[i] = pos;
      pos += len[i];
    }
    return start;
  }
}
data {
  int<lower=1> n_subject;
  array[n_subject] int<lower=0> n_pk;
  array[n_subject] int<lower=0> n_pd;
  array[n_subject] int<lower=1> n_dose;
  array[sum(n_pk)] real<lower=0> pk_time;
  vector<lower=0>[sum(n_pk)] pk_conc;
  array[sum(n_pk)] int<lower=0, upper=1> pk_below;
  array[sum(n_pd)] real<lower=0> pd_time;
  vector[sum(n_pd)] pd_response;
  array[sum(n_dose)] real<lower=0> dose_time;
  array[sum(n_dose)] real<lower=0> dose_amount;
  vector<lower=0>[n_subject] weight;
  real<lower=0> limit;
  tuple(real<lower=0>, real<lower=0>, int<lower=1>) solver; // relative, absolute tolerance and steps
}
transformed data {
  int n_par = 3;
  array[n_subject] int pk_start = ragged_start(n_pk);
  array[n_subject] int pd_start = ragged_start(n_pd);
  array[n_subject] int dose_start = ragged_start(n_dose);
  array[n_subject] int pk_end;
  array[n_subject] int pd_end;
  array[n_subject] int dose_end;
  vector[n_subject] log_weight_ratio = log(weight / 70);
  for (i in 1 : n_subject) {
    pk_end[i] = pk_start[i] + n_pk[i] - 1;
    pd_end[i] = pd_start[i] + n_pd[i] - 1;
    dose_end[i] = dose_start[i] + n_dose[i] - 1;
  }
}
parameters {
  // typical values
  real<lower=0> cl_pop;
  real<lower=0> v_pop;
  real<lower=cl_pop / v_pop> ka_pop; // absorption faster than elimination
  // between-subject variation
  vector<lower=0>[n_par] omega;
  cholesky_factor_corr[n_par] omega_L;
  matrix[n_par, n_subject] eta_raw;
  real<lower=0> sigma_pk;
  // response
  real<lower=0> kin;
  real<lower=0> kout;
  real<lower=0, upper=1> imax;
  real<lower=0> ic50;
  real<lower=0> sigma_pd;
}
transformed parameters {
  matrix[n_subject, n_par] eta = (diag_pre_multiply(omega, omega_L) * eta_raw)';
  vector<lower=0>[n_subject] cl = exp(log(cl_pop) + 0.75 * log_weight_ratio + eta[ : , 1]);
  vector<lower=0>[n_subject] v = exp(log(v_pop) + log_weight_ratio + eta[ : , 2]);
  vector<lower=0>[n_subject] ka = exp(log(ka_pop) + eta[ : , 3]);
  vector[sum(n_pk)] pk_mean;
  vector[sum(n_pd)] pd_mean;
  for (i in 1 : n_subject) {
    array[n_dose[i]] real dt = dose_time[dose_start[i] : dose_end[i]];
    array[n_dose[i]] real da = dose_amount[dose_start[i] : dose_end[i]];
    if (n_pk[i] > 0) {
      pk_mean[pk_start[i] : pk_end[i]] = concentration(pk_time[pk_start[i] : pk_end[i]], dose_time[dose_start[i] : dose_end[i]], dose_amount[dose_start[i] : dose_end[i]], ka[i], cl[i], v[i]);
    }
    if (n_pd[i] > 0) {
      vector[1] baseline = [kin / kout]';
      array[n_pd[i]] vector[1] path = ode_bdf_tol(turnover, baseline, -0.001, pd_time[pd_start[i] : pd_end[i]], solver.1, solver.2, solver.3, kin, kout, imax, ic50, dose_time[dose_start[i] : dose_end[i]], dose_amount[dose_start[i] : dose_end[i]], ka[i], cl[i], v[i]);
      for (j in 1 : n_pd[i]) {
        pd_mean[pd_start[i] + j - 1] = path[j, 1];
      }
    }
    if (is_nan(sum(da)) || is_inf(sum(dt))) {
      print("strange dose record of subject ", i, ": ", dt, da);
    }
  }
}
model {
  cl_pop ~ lognormal(log(5), 0.5);
  v_pop ~ lognormal(log(50), 0.5);
  ka_pop ~ lognormal(log(1), 0.5) T[cl_pop / v_pop, ];
  omega ~ normal(0, 0.4);
  omega_L ~ lkj_corr_cholesky(2);
  to_vector(eta_raw) ~ std_normal();
  sigma_pk ~ normal(0, 0.3);
  kin ~ lognormal(2, 0.5);
  kout ~ lognormal(-2, 0.5);
  imax ~ beta(4, 2);
  ic50 ~ lognormal(0, 1);
  sigma_pd ~ exponential(0.5);
  pk_conc ~ censored(pk_mean, sigma_pk, pk_below, limit);
  pd_response ~ normal(pd_mean, sigma_pd);
}
generated quantities {
  corr_matrix[n_par] omega_corr = multiply_lower_tri_self_transpose(omega_L);
  real half_life = log(2) * v_pop / cl_pop;
  vector[n_subject] exposure;
  array[sum(n_pk)] real pk_rep;
  array[sum(n_pd)] real pd_rep = normal_rng(pd_mean, sigma_pd);
  for (i in 1 : n_subject) {
    exposure[i] = sum(dose_amount[dose_start[i] : dose_end[i]]) / cl[i];
  }
  for (k in 1 : sum(n_pk)) {
    pk_rep[k] = lognormal_rng(log(pk_mean[k] + 1e-10), sigma_pk);
  }
  // a new subject at 24 hours
  real new_conc;
  {
    vector[n_par] e = multi_normal_cholesky_rng(rep_vector(0, n_par), diag_pre_multiply(omega, omega_L));
    new_conc = single_dose(24, 100, ka_pop * exp(e[3]), cl_pop / v_pop * exp(e[1] - e[2]), v_pop * exp(e[2]));
  }
}
