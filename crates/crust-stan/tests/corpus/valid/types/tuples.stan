// Tuples: flat, nested, of containers, in arrays, with constrained parts.
data {
  int<lower=1> n;
  tuple(int, real, complex) scalars;
  tuple(vector[n], row_vector[n], matrix[n, 2]) linear;
  tuple(tuple(int, int), tuple(real, tuple(real, real))) nest;
  array[n] tuple(int, vector[3]) rows_in;
  array[n, 2] tuple(array[3] int, tuple(real, array[2] matrix[2, 2])) deep;
  tuple(int<lower=0, upper=n>, real<lower=0>, vector<upper=1>[n]) bounded;
  tuple(simplex[3], array[2] cov_matrix[2], cholesky_factor_corr[3]) special;
}
transformed data {
  tuple(int, real) pair = (n, 2.5);
  tuple(real, real) widened = (1, 2);
  array[2] tuple(int, real) list = {(1, 2.0), (3, 4.5)};
  tuple(tuple(int, int), real) copy = (nest.1, nest.2.2.1);
  int second = nest.1.2;
  real deep_one = deep[1, 2].2.2[1, 2, 1];
  vector[3] from_row = rows_in[1].2;
}
parameters {
  tuple(real<lower=0>, vector[n], simplex[3]) p;
  array[2] tuple(real<offset=1, multiplier=2>, ordered[2]) q;
}
model {
  p.1 ~ exponential(1);
  p.2 ~ normal(0, p.1);
  q[1].1 ~ normal(0, 1);
  for (t in q) {
    t.2 ~ normal(0, 5);
  }
}
