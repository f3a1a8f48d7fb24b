data {
  int M;
  int T;
  array[M, T] int<lower=0, upper=1> y;
}
transformed data {
  array[M] int s;
  int C = 0;
  for (i in 1:M) {
    s[i] = sum(y[i]);
    if (s[i] > 0) C += 1;
  }
}
parameters {
  real<lower=0, upper=1> omega;
  real<lower=0, upper=1> p;
}
model {
  for (i in 1:M) {
    if (s[i] > 0) target += bernoulli_lpmf(1 | omega) + binomial_lpmf(s[i] | T, p);
    else target += log_sum_exp(bernoulli_lpmf(1 | omega) + binomial_lpmf(0 | T, p),
        bernoulli_lpmf(0 | omega));
  }
}
