// Cormack-Jolly-Seber
functions {
  int first_capture(array[] int y_i) { for (k in 1:size(y_i)) if (y_i[k]) return k; return 0; }
  int last_capture(array[] int y_i) { for (k_rev in 0:(size(y_i) - 1)) { int k = size(y_i) - k_rev; if (y_i[k]) return k; } return 0; }
}
data { int<lower=2> T; int<lower=0> I; array[I, T] int<lower=0, upper=1> y; }
transformed data { array[I] int first; array[I] int last; for (i in 1:I) first[i] = first_capture(y[i]); for (i in 1:I) last[i] = last_capture(y[i]); }
parameters { vector<lower=0, upper=1>[T - 1] phi; vector<lower=0, upper=1>[T] p; }
transformed parameters {
  vector<lower=0, upper=1>[T] chi;
  chi[T] = 1.0;
  { int k = T - 1; while (k > 0) { chi[k] = (1 - phi[k]) + phi[k] * (1 - p[k + 1]) * chi[k + 1]; k = k - 1; } }
}
model {
  for (i in 1:I) if (first[i] > 0) {
    for (t in (first[i] + 1):last[i]) { 1 ~ bernoulli(phi[t - 1]); y[i, t] ~ bernoulli(p[t]); }
    1 ~ bernoulli(chi[last[i]]);
  }
}
