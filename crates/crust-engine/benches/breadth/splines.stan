// A penalised spline.
data { int N; int B; matrix[N, B] basis; vector[N] y; }
parameters { real a0; vector[B] a_raw; real<lower=0> sigma; real<lower=0> tau; }
transformed parameters {
  vector[B] a;
  a[1] = a_raw[1];
  for (i in 2:B) a[i] = a[i - 1] + a_raw[i] * tau;
}
model {
  a_raw ~ normal(0, 1);
  a0 ~ normal(0, 1);
  tau ~ normal(0, 1);
  sigma ~ normal(0, 1);
  y ~ normal(a0 + basis * a, sigma);
}
