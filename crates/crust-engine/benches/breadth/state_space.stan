// A local level with a trend: the Kalman filter by hand.
data { int T; array[T] real y; }
parameters { real<lower=0> s_level; real<lower=0> s_trend; real<lower=0> s_obs; real m0; }
model {
  real m = m0;
  real d = 0;
  real P11 = 10;
  real P12 = 0;
  real P22 = 1;
  s_level ~ normal(0, 1);
  s_trend ~ normal(0, 1);
  s_obs ~ normal(0, 1);
  m0 ~ normal(0, 10);
  for (t in 1:T) {
    real F = P11 + square(s_obs);
    real v = y[t] - m;
    real k1;
    real k2;
    real Q11;
    real Q12;
    real Q22;
    target += normal_lpdf(v | 0, sqrt(F));
    k1 = P11 / F;
    k2 = P12 / F;
    m += k1 * v;
    d += k2 * v;
    Q11 = P11 - k1 * P11;
    Q12 = P12 - k1 * P12;
    Q22 = P22 - k2 * P12;
    m += d;
    P11 = Q11 + 2 * Q12 + Q22 + square(s_level);
    P12 = Q12 + Q22;
    P22 = Q22 + square(s_trend);
  }
}
