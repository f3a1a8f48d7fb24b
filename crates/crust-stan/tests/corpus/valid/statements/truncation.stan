// Truncated distribution statements in all forms, continuous and discrete, scalar and vector.
data { int n; vector<lower=0, upper=10>[n] y; real<lower=0> lo; int<lower=1> k; array[n] int<lower=0> ks; real x; }
transformed data { int T = 3; int L = 0; int U = 9; }
parameters { real m; real<lower=0> s; vector[n] mv; real<lower=0, upper=1> p; }
model {
  x ~ normal(m, s) T[, ];
  x ~ normal(m, s) T[0, ];
  x ~ normal(m, s) T[, 10];
  x ~ normal(m, s) T[0, 10];
  x ~ normal(m, s)T[L,U];
  x ~ normal(m, s) T [ lo - 1 , lo + 1 ] ;
  x ~ normal(m, s) T[T, T + 1];
  x ~ student_t(3, m, s) T[lo, ];
  y ~ normal(m, s) T[0, 10];
  y ~ normal(mv, s) T[0, 10];
  s ~ cauchy(0, 2.5) T[0, ];
  k ~ poisson(s) T[1, ];
  k ~ poisson(s) T[1, U];
  k ~ poisson(s) T[, U];
  k ~ binomial(20, p) T[1, ];
  k ~ neg_binomial_2(s, 2) T[1, ];
  for (i in 1 : n) ks[i] ~ poisson(s) T[0, 100];
  x ~ lognormal(m, s) T[(lo > 1 ? lo : 1), fmax(lo, 3)];
}
