// Elementwise binary functions with all pairings of scalars and containers.
data { int<lower=1> n; int i; real r; vector[n] v; row_vector[n] w; matrix[n, n] m; array[n] int ai; array[n] real ar; array[n] vector[n] av; array[n, 3] int ai2; array[n, 3] real ar2; }
transformed data {
  real a = pow(r, i) + fmax(i, r) + fmin(r, r) + atan2(r, i) + hypot(3, 4) + fdim(r, 1) + fmod(r, 2) + lbeta(r, r) + beta(1, r) + lmultiply(r, r) + log_diff_exp(2, 1) + gamma_p(r, 1) + gamma_q(1, r) + owens_t(r, r) + bessel_first_kind(i, r) + bessel_second_kind(i, r) + modified_bessel_first_kind(i, r) + modified_bessel_second_kind(i, r) + log_modified_bessel_first_kind(r, r) + falling_factorial(r, i) + rising_factorial(r, i) + log_rising_factorial(r, r) + log_falling_factorial(r, r) + lchoose(r, r) + ldexp(r, i) + lmgamma(i, r) + binary_log_loss(i, r);
  int b = choose(5, i) + max(1, i) + min(i, 2);
  vector[n] c = pow(v, 2) + pow(2, v) + pow(v, v) + fmax(v, 0) + fmin(1, v) + beta(v, v) + atan2(v, r) + hypot(v, v) + log_sum_exp(v, v) + log_diff_exp(v, r);
  row_vector[n] d = fmax(w, w) + fdim(w, r) + fmod(r, w) + lmultiply(w, w);
  matrix[n, n] f = pow(m, m) + pow(m, 2) + fmin(m, m) + gamma_p(m, r);
  array[n] real g = fmax(ar, ar);
  array[n] vector[n] h = fmax(av, r);
  array[n, 3] real k = ldexp(ar2, ai2);
  array[n] real l = bessel_first_kind(ai, ar);
  vector[n] p = bessel_first_kind(ai, v);
  array[n] int q = choose(ai, ai);
  vector[n] s = fma(v, r, v) + fma(1.5, v, 2.5);
  real t = inc_beta(r, r, 0.5) + inv_inc_beta(1, 2, r) + fma(1, 2, 3) + log_mix(0.3, r, r) + int_step(r) + step(r) + hypergeometric_2F1(1, 2, 3, 0.1) + hypergeometric_1F0(r, r) + hypergeometric_3F2({1, 2, 3}, {4, 5}, 0.1) + hypergeometric_pFq([1, 2]', [3]', 0.2);
}
