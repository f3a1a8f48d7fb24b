// Five groups of varying intercepts; locations are transformed parameters.
data {
  int N; int A; int B; int C; int D;
  array[N] int a_of; array[N] int b_of; array[N] int c_of; array[N] int d_of; vector[N] black; vector[N] female; array[N] int<lower=0, upper=1> y;
}
parameters {
  vector[A] a; vector[B] b; vector[C] c; vector[D] d; vector[4] beta;
  real<lower=0, upper=100> sigma_a; real<lower=0, upper=100> sigma_b; real<lower=0, upper=100> sigma_c; real<lower=0, upper=100> sigma_d;
}
transformed parameters {
  vector[N] y_hat;
  for (i in 1:N)
    y_hat[i] = beta[1] + beta[2] * black[i] + beta[3] * female[i] + beta[4] * female[i] * black[i]
               + a[a_of[i]] + b[b_of[i]] + c[c_of[i]] + d[d_of[i]];
}
model {
  a ~ normal(0, sigma_a);
  b ~ normal(0, sigma_b);
  c ~ normal(0, sigma_c);
  d ~ normal(0, sigma_d);
  beta ~ normal(0, 100);
  y ~ bernoulli_logit(y_hat);
}
