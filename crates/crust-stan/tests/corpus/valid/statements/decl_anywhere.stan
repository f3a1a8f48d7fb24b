// Declarations between statements in every block that has statements.
data { int n; vector[n] y; }
transformed data {
  int a = n;
  print(a);
  real b;
  b = a + 1;
  vector[a] c = rep_vector(b, a);
  c[1] = 0;
  array[n] int d;
  for (i in 1 : n) d[i] = i;
  matrix[a, a] e = diag_matrix(c);
}
parameters { real mu; }
transformed parameters {
  real p = mu;
  p *= 2;
  real q = p;
  if (n > 1) { q = -p; }
  vector[n] r = rep_vector(q, n);
}
model {
  mu ~ normal(0, 1);
  real sigma = exp(p);
  y ~ normal(mu, sigma);
  int k = 0;
  while (k < 2) { k += 1; int twice = 2 * k; target += twice * 0; }
}
generated quantities {
  real s = 1;
  s += 1;
  real t = s;
}
