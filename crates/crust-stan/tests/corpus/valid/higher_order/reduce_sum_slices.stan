// reduce_sum and reduce_sum_static over slices of many types, with many kinds of shared arguments.
functions {
  real over_int(array[] int part, int from, int to, vector eta) { return poisson_log_lpmf(part | eta[from : to]); }
  real over_real(array[] real part, int from, int to, real m, real s) { return normal_lpdf(part | m, s); }
  real over_vec(array[] vector part, int from, int to, vector mu, matrix L) { return multi_normal_cholesky_lpdf(part | mu, L); }
  real over_row(array[] row_vector part, int from, int to) { return sum(part[1]); }
  real over_mat(array[] matrix part, int from, int to, array[] int idx, array[,] real grid, tuple(int, real) t) { return part[1, 1, 1] * t.2 + grid[1, idx[1]]; }
  real over_int2(array[,] int part, int from, int to, complex z) { return sum(part[1]) + abs(z); }
  real over_vec2(array[,] vector part, int from, int to) { return part[1, 1, 1]; }
  real dens_lpmf(array[] int part, int from, int to, real rate) { return poisson_lupmf(part | rate); }
  real dens_lpdf(array[] real part, int from, int to, real rate) { return exponential_lupdf(part | rate); }
}
data {
  int<lower=1> n; array[n] int k; array[n] real r; array[n] vector[2] v; array[n] row_vector[2] w; array[n] matrix[2, 2] m; array[n, 2] int k2; array[n, 2] vector[2] v2;
  int<lower=1> grain;
}
parameters { vector[n] eta; real mu; real<lower=0> s; vector[2] loc; cholesky_factor_cov[2] L; complex z; }
model {
  target += reduce_sum(over_int, k, grain, eta);
  target += reduce_sum(over_real, r, 1, mu, s);
  target += reduce_sum(over_vec, v, grain, loc, L);
  target += reduce_sum(over_row, w, grain);
  target += reduce_sum(over_mat, m, grain, {1}, {{mu, s}}, (1, mu));
  target += reduce_sum(over_int2, k2, grain, z);
  target += reduce_sum(over_vec2, v2, grain);
  target += reduce_sum(dens_lpmf, k, grain, s);
  target += reduce_sum(dens_lupmf, k, grain, s);
  target += reduce_sum(dens_lpdf, r, grain, s);
  target += reduce_sum(dens_lupdf, r, grain, s);
  target += reduce_sum_static(over_int, k, grain, eta);
  target += reduce_sum_static(dens_lupmf, k, 5, s);
  target += reduce_sum(over_real, to_array_1d(eta), grain, 0, 1);
  target += reduce_sum(over_int, linspaced_int_array(n, 1, n), grain, eta);
}
