data {
  int N;
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> sigma;
  real<lower=1> nu;
}
model {
  mu ~ normal(0, 5);
  sigma ~ cauchy(0, 2);
  nu ~ gamma(2, 0.1);
  y ~ student_t(nu, mu, sigma);
}
