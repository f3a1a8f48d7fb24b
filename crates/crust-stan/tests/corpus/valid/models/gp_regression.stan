// Gaussian process for a temperature curve: sum of two kernels, conditional draws on a grid.
functions {
  matrix curve_cov(array[] real a, array[] real b, vector amp, vector len) {
    return gp_exp_quad_cov(a, b, amp[1], len[1]) + gp_matern52_cov(a, b, amp[2], len[2]);
  }
  vector conditional_rng(array[] real at, array[] real seen_at, vector seen, vector amp, vector len, real noise) {
    matrix[size(seen_at), size(seen_at)] K = add_diag(curve_cov(seen_at, seen_at, amp, len), square(noise));
    matrix[size(seen_at), size(at)] cross = curve_cov(seen_at, at, amp, len);
    vector[size(at)] m = cross' * mdivide_left_spd(K, seen);
    matrix[size(at), size(at)] V = curve_cov(at, at, amp, len) - quad_form_sym(inverse_spd(K), cross);
    return multi_normal_rng(m, add_diag(V, 1e-8));
  }
}
data {
  int<lower=1> n_seen;
  int<lower=0> n_grid;
  array[n_seen] real hour;
  vector[n_seen] temp_dev;
  array[n_grid] real grid;
}
parameters {
  vector<lower=0>[2] amp;
  positive_ordered[2] len;
  real<lower=0> noise;
}
model {
  amp ~ normal(0, [3, 1]);
  len ~ inv_gamma([4, 8], [4, 40]);
  noise ~ normal(0, 0.5);
  temp_dev ~ multi_normal(rep_vector(0, n_seen), add_diag(curve_cov(hour, hour, amp, len), square(noise)));
}
generated quantities {
  vector[n_grid] curve = conditional_rng(grid, hour, temp_dev, amp, len, noise);
}
