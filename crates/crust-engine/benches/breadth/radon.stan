// Varying intercepts and two predictors; a loop fills the locations, and one statement looks at them.
data { int N; int J; array[N] int<lower=1, upper=J> county; vector[N] u; vector[N] x; vector[N] y; }
parameters { vector[J] a; vector[2] b; real mu_a; real<lower=0> sigma_a; real<lower=0> sigma_y; }
model {
  vector[N] y_hat;
  for (i in 1:N) y_hat[i] = a[county[i]] + x[i] * b[1] + u[i] * b[2];
  mu_a ~ normal(0, 1);
  sigma_a ~ cauchy(0, 2.5);
  sigma_y ~ cauchy(0, 2.5);
  a ~ normal(mu_a, sigma_a);
  b ~ normal(0, 1);
  y ~ normal(y_hat, sigma_y);
}
