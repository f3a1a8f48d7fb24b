// Elementwise unary functions on ints, reals, vectors, matrices and arrays of them.
data { int<lower=1> n; int i; real r; vector[n] v; row_vector[n] w; matrix[n, n] m; array[n] int ai; array[n] real ar; array[n] vector[n] av; array[n, 2] matrix[n, n] am; array[2, 2, 2] real ar3; }
transformed data {
  real a = exp(i) + log(r) + sqrt(2) + inv_logit(r) + Phi(r) + lgamma(i) + tgamma(r) + digamma(r) + trigamma(3) + floor(r) + cbrt(r) + square(i) + erf(r) + log1p(r) + expm1(r);
  vector[n] b = exp(v) + log(v) + sqrt(v) + inv(v) + inv_sqrt(v) + inv_square(v) + tanh(v) + asinh(v) + logit(inv_logit(v)) + inv_cloglog(v) + log1m_exp(v) + log1p_exp(v) + log_inv_logit(v) + Phi_approx(v);
  row_vector[n] c = exp(w) + sin(w) + cos(w) + tan(w) + asin(w) + acos(w) + atan(w) + sinh(w) + cosh(w) + acosh(w) + atanh(w) + exp2(w) + log2(w) + log10(w);
  matrix[n, n] d = exp(m) + abs(m) + round(m) + trunc(m) + ceil(m) + lambert_w0(m) + lambert_wm1(m) + erfc(m) + inv_erfc(m) + inv_Phi(m) + std_normal_qf(m);
  array[n] real f = exp(ai);
  array[n] real g = log(ar);
  array[n] vector[n] h = exp(av);
  array[n, 2] matrix[n, n] k = inv_logit(am);
  array[2, 2, 2] real l = sqrt(ar3);
  array[n] int p = abs(ai);
  int q = abs(i);
}
