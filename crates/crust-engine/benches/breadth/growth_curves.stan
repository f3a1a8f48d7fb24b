// Growth of animals, non-linear.
data { int N; array[N] real x; array[N] real y; }
parameters { real<lower=0> alpha; real<lower=0> beta; real<lower=.5, upper=1> lambda; real<lower=0> tau; }
transformed parameters { real sigma; sigma = 1 / sqrt(tau); }
model {
  array[N] real m;
  for (i in 1:N) m[i] = alpha - beta * pow(lambda, x[i]);
  y ~ normal(m, sigma);
  alpha ~ normal(0.0, 1000);
  beta ~ normal(0.0, 1000);
  lambda ~ uniform(.5, 1);
  tau ~ gamma(.0001, .0001);
}
