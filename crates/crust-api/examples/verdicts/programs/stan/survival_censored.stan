data {
  int N;
  vector<lower=0>[N] t;
  array[N] int<lower=0, upper=1> seen;
}
parameters {
  real<lower=0> rate;
}
model {
  rate ~ gamma(1, 1);
  for (n in 1:N) {
    if (seen[n]) t[n] ~ exponential(rate);
    else target += exponential_lccdf(t[n] | rate);
  }
}
