// Large: joint model of several biomarkers and two competing events, with B-spline baselines and dynamic prediction.
functions {
  // Cox-de Boor recursion for one basis function
  vector spline_piece(vector t, data vector knot, int order, int which) {
    int n = num_elements(t);
    vector[n] out;
    if (order == 1) {
      for (i in 1 : n) out[i] = knot[which] <= t[i] && t[i] < knot[which + 1];
      return out;
    }
    real left_gap = knot[which + order - 1] - knot[which];
    real right_gap = knot[which + order] - knot[which + 1];
    out = rep_vector(0, n);
    if (left_gap > 0) {
      out += (t - knot[which]) / left_gap .* spline_piece(t, knot, order - 1, which);
    }
    if (right_gap > 0) {
      out += (knot[which + order] - t) / right_gap .* spline_piece(t, knot, order - 1, which + 1);
    }
    return out;
  }
  matrix spline_basis(vector t, data vector knot, int order) {
    int k = num_elements(knot) - order;
    matrix[num_elements(t), k] B;
    for (j in 1 : k) B[ : , j] = spline_piece(t, knot, order, j);
    return B;
  }
  // Gauss-Legendre nodes and weights on (-1, 1), five points
  tuple(vector, vector) quadrature() {
    real a = sqrt(5 - 2 * sqrt(10.0 / 7)) / 3;
    real b = sqrt(5 + 2 * sqrt(10.0 / 7)) / 3;
    real wa = (322 + 13 * sqrt(70)) / 900;
    real wb = (322 - 13 * sqrt(70)) / 900;
    return ([-b, -a, 0, a, b]', [wb, wa, 128.0 / 225, wa, wb]');
  }
  // subject-specific curve of marker k
  vector marker_curve(vector t, row_vector fixed, row_vector random) {
    return fixed[1] + random[1] + (fixed[2] + random[2]) * t + fixed[3] * square(t);
  }
  real cumulative_hazard(vector log_h, real end_time, data vector node_weight) {
    return 0.5 * end_time * dot_product(node_weight, exp(log_h));
  }
  array[] vector hazards(vector t, matrix basis, array[] vector spline_coef, vector x_effect, matrix assoc, array[] row_vector fixed, matrix random) {
    int n_event = size(spline_coef);
    int n_marker = size(fixed);
    array[n_event] vector[num_elements(t)] h;
    for (e in 1 : n_event) {
      h[e] = basis * spline_coef[e] + x_effect[e];
      for (k in 1 : n_marker) {
        h[e] += assoc[e, k] * marker_curve(t, fixed[k], random[k]);
      }
    }
    return h;
  }
}
data {
  int<lower=1> n_patient;
  int<lower=1> n_marker;
  int<lower=1> n_obs;
  int<lower=1> n_cov;
  array[n_obs] int<lower=1, upper=n_patient> patient;
  array[n_obs] int<lower=1, upper=n_marker> marker;
  vector<lower=0>[n_obs] time;
  vector[n_obs] value;
  array[n_marker] int<lower=1, upper=3> family; // 1 normal, 2 log-normal, 3 student
  vector<lower=0>[n_patient] end_time;
  array[n_patient] int<lower=0, upper=2> event; // 0 censored
  matrix[n_patient, n_cov] x;
  int<lower=4> n_knot;
  ordered[n_knot] inner_knot;
}
transformed data {
  int order = 4;
  int n_basis = n_knot + order - 2;
  vector[n_knot + 2 * (order - 1)] knot = append_row(append_row(rep_vector(inner_knot[1], order - 1), inner_knot), rep_vector(inner_knot[n_knot] + 1e-6, order - 1));
  vector[5] node;
  vector[5] node_weight;
  (node, node_weight) = quadrature();
  array[n_patient] vector[5] node_time;
  array[n_patient] matrix[5, n_basis] node_basis;
  matrix[n_patient, n_basis] end_basis = spline_basis(end_time, knot, order);
  for (i in 1 : n_patient) {
    node_time[i] = 0.5 * end_time[i] * (node + 1);
    node_basis[i] = spline_basis(node_time[i], knot, order);
  }
  vector[n_obs] y = value;
  for (o in 1 : n_obs) {
    if (family[marker[o]] == 2) y[o] = log(value[o]);
  }
}
parameters {
  array[n_marker] row_vector[3] fixed;
  matrix[2 * n_marker, n_patient] z;
  vector<lower=0>[2 * n_marker] tau;
  cholesky_factor_corr[2 * n_marker] L;
  vector<lower=0>[n_marker] sigma;
  real<lower=2> nu;
  array[2] vector[n_basis] spline_coef;
  real<lower=0> smooth_sd;
  matrix[n_cov, 2] gam;
  matrix[2, n_marker] assoc;
}
transformed parameters {
  // one matrix of random effects (marker by intercept and slope) per patient
  array[n_patient] matrix[n_marker, 2] random;
  {
    matrix[2 * n_marker, n_patient] u = diag_pre_multiply(tau, L) * z;
    for (i in 1 : n_patient) random[i] = to_matrix(u[ : , i], n_marker, 2);
  }
}
model {
  vector[n_obs] mu;
  matrix[n_patient, 2] x_effect = x * gam;
  for (k in 1 : n_marker) fixed[k] ~ normal(0, [5, 2, 1]);
  to_vector(z) ~ std_normal();
  tau ~ student_t(3, 0, 1);
  L ~ lkj_corr_cholesky(2);
  sigma ~ exponential(1);
  nu ~ gamma(2, 0.1);
  for (e in 1 : 2) {
    spline_coef[e, 1] ~ normal(-2, 2);
    spline_coef[e, 2 : ] - spline_coef[e, : (n_basis - 1)] ~ normal(0, smooth_sd);
  }
  smooth_sd ~ normal(0, 1);
  to_vector(gam) ~ normal(0, 1);
  to_vector(assoc) ~ normal(0, 0.5);
  for (o in 1 : n_obs) {
    mu[o] = marker_curve([time[o]]', fixed[marker[o]], random[patient[o], marker[o]])[1];
  }
  for (o in 1 : n_obs) {
    if (family[marker[o]] == 3) {
      y[o] ~ student_t(nu, mu[o], sigma[marker[o]]);
    } else {
      y[o] ~ normal(mu[o], sigma[marker[o]]);
    }
  }
  for (i in 1 : n_patient) {
    array[2] vector[5] h = hazards(node_time[i], node_basis[i], spline_coef, x_effect[i]', assoc, fixed, random[i]);
    for (e in 1 : 2) target += -cumulative_hazard(h[e], end_time[i], node_weight);
    if (event[i] > 0) {
      array[2] vector[1] at_end = hazards([end_time[i]]', end_basis[i : i], spline_coef, x_effect[i]', assoc, fixed, random[i]);
      target += at_end[event[i], 1];
    }
  }
}
generated quantities {
  corr_matrix[2 * n_marker] Omega = tcrossprod(L);
  vector[n_patient] log_lik = rep_vector(0, n_patient);
  vector[n_patient] risk;
  for (o in 1 : n_obs) {
    real m = marker_curve([time[o]]', fixed[marker[o]], random[patient[o], marker[o]])[1];
    log_lik[patient[o]] += family[marker[o]] == 3 ? student_t_lpdf(y[o] | nu, m, sigma[marker[o]]) : normal_lpdf(y[o] | m, sigma[marker[o]]);
  }
  for (i in 1 : n_patient) {
    array[2] vector[5] h = hazards(node_time[i], node_basis[i], spline_coef, (x[i] * gam)', assoc, fixed, random[i]);
    real total = 0;
    for (e in 1 : 2) total += cumulative_hazard(h[e], end_time[i], node_weight);
    risk[i] = 1 - exp(-total);
    log_lik[i] += -total;
  }
}
