// Two pools of soil carbon.
functions {
  vector two_pools(real t, vector C, real k1, real k2, real a21, real a12) {
    return [-k1 * C[1] + a12 * k2 * C[2], -k2 * C[2] + a21 * k1 * C[1]]';
  }
}
data { int N; array[N] real ts; vector[N] eCO2; real totalC; }
parameters { real<lower=0> k1; real<lower=0> k2; real<lower=0> a21; real<lower=0> a12; real<lower=0, upper=1> g; real<lower=0> sigma; }
transformed parameters {
  vector[N] hat;
  {
    vector[2] C0 = [g * totalC, (1 - g) * totalC]';
    array[N] vector[2] C = ode_rk45(two_pools, C0, 0.0, ts, k1, k2, a21, a12);
    for (t in 1:N) hat[t] = totalC - sum(C[t]);
  }
}
model {
  g ~ beta(10, 1);
  k1 ~ normal(0, 1);
  k2 ~ normal(0, 1);
  a21 ~ normal(0, 1);
  a12 ~ normal(0, 1);
  sigma ~ cauchy(0, 1);
  eCO2 ~ normal(hat, sigma);
}
