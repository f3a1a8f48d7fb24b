// Answers of 20 people to 10 items (1PL), abilities non-centred by a standard normal prior.
data {
  int<lower=1> J;
  int<lower=1> I;
  int<lower=1> N;
  array[N] int<lower=1, upper=J> person;
  array[N] int<lower=1, upper=I> item;
  array[N] int<lower=0, upper=1> y;
}
parameters {
  vector[J] ability;
  vector[I] difficulty;
  real mu;
}
model {
  ability ~ normal(0, 1);
  difficulty ~ normal(0, 1.5);
  mu ~ normal(0, 1.5);
  y ~ bernoulli_logit(mu + ability[person] - difficulty[item]);
}
