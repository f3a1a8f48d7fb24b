functions { int num_zeros(array[] int y) { int s = 0; for (n in 1:size(y)) s += (y[n] == 0); return s; } }
data { int<lower=0> N; array[N] int<lower=0> y; }
transformed data {
  int<lower=0> N_zero = num_zeros(y);
  array[N - N_zero] int<lower=1> y_nonzero;
  int N_nonzero = 0;
  for (n in 1:N) { if (y[n] == 0) continue; N_nonzero += 1; y_nonzero[N_nonzero] = y[n]; }
}
parameters { real<lower=0, upper=1> theta; real<lower=0> lambda; }
model {
  target += N_zero * log_sum_exp(log(theta), log1m(theta) + poisson_lpmf(0 | lambda));
  target += N_nonzero * log1m(theta);
  target += poisson_lpmf(y_nonzero | lambda);
}
