data {
  int N;
  int A;
  int B;
  array[N] int<lower=1> a;
  array[N] int<lower=1> b;
  array[N] int y;
}
parameters {
  real mu;
  real<lower=0> sa;
  real<lower=0> sb;
  vector<offset=0, multiplier=sa>[A] u;
  vector<multiplier=sb>[B] v;
}
model {
  mu ~ normal(0, 1.5);
  sa ~ normal(0, 1);
  sb ~ normal(0, 1);
  u ~ normal(0, sa);
  v ~ normal(0, sb);
  y ~ bernoulli_logit(mu + u[a] + v[b]);
}
