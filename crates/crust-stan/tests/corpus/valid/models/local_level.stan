// Local level and trend state-space model with the states sampled.
data {
  int<lower=2> T;
  vector[T] y;
  int<lower=0> horizon;
}
parameters {
  vector[T] level_raw;
  vector[T - 1] trend_raw;
  vector<lower=0>[3] s;
}
transformed parameters {
  vector[T] level;
  vector[T - 1] trend;
  level[1] = y[1] + s[1] * level_raw[1];
  trend[1] = s[2] * trend_raw[1];
  for (t in 2 : T) {
    if (t > 2) trend[t - 1] = trend[t - 2] + s[2] * trend_raw[t - 1];
    level[t] = level[t - 1] + trend[t - 1] + s[1] * level_raw[t];
  }
}
model {
  level_raw ~ std_normal();
  trend_raw ~ std_normal();
  s ~ normal(0, [1, 0.1, 1]);
  y ~ normal(level, s[3]);
}
generated quantities {
  vector[horizon] forecast;
  {
    real l = level[T];
    real b = trend[T - 1];
    for (h in 1 : horizon) {
      b = normal_rng(b, s[2]);
      l = normal_rng(l + b, s[1]);
      forecast[h] = normal_rng(l, s[3]);
    }
  }
}
