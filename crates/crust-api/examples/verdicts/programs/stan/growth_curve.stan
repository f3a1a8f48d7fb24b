data {
  int N;
  vector[N] x;
  vector[N] Y;
}
parameters {
  real alpha;
  real beta;
  real<lower=.5, upper=1> lambda;
  real<lower=0> tau;
}
transformed parameters {
  real sigma = 1 / sqrt(tau);
  real U3 = logit(lambda);
}
model {
  vector[N] m;
  for (i in 1:N) m[i] = alpha - beta * pow(lambda, x[i]);
  Y ~ normal(m, sigma);
  alpha ~ normal(0.0, 1000);
  beta ~ normal(0.0, 1000);
  lambda ~ uniform(.5, 1);
  tau ~ gamma(.0001, .0001);
}
