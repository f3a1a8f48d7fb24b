// Reductions, sizes, order statistics and constants.
data { int<lower=1> n; vector[n] v; row_vector[n] w; matrix[n, n] m; array[n] int ai; array[n] real ar; array[n, 2] vector[n] av; complex_vector[n] zv; int i; }
transformed data {
  real a = sum(v) + sum(w) + sum(m) + sum(ar) + prod(v) + prod(ai) + mean(m) + mean(ar) + variance(v) + sd(w) + max(v) + min(m) + max(ar) + log_sum_exp(v) + log_sum_exp(ar) + norm1(v) + norm2(ar) + dot_self(v) + dot_product(v, w) + distance(v, w) + squared_distance(v, v) + quantile(v, 0.5);
  int b = sum(ai) + max(ai) + min(ai) + size(v) + size(av) + num_elements(m) + num_elements(av) + rows(m) + cols(m) + rows(w) + cols(v) + size(3);
  array[2] int dm = dims(m);
  array[3] int da = dims(av);
  array[0] int ds = dims(2.5);
  vector[n] c = cumulative_sum(v) + sort_asc(v) + sort_desc(v) + reverse(v) + softmax(v) + log_softmax(v);
  array[n] int d = sort_indices_asc(v);
  array[n] int f = sort_indices_desc(ai);
  array[n] int g = sort_asc(ai);
  array[n] real h = cumulative_sum(ar);
  int k = rank(v, i) + rank(ai, 1);
  array[3] real q = quantile(ar, {0.1, 0.5, 0.9});
  array[n, 2] vector[n] rv = reverse(av);
  complex zs = sum(zv) + prod(zv);
  real consts = pi() + e() + sqrt2() + machine_precision() + positive_infinity() + negative_infinity() + not_a_number();
  int tests = is_nan(consts) + is_inf(consts);
}
