// Abilities and difficulties; a statement for all persons in a loop over questions.
data { int N; int T; array[T, N] int<lower=0, upper=1> r; }
parameters { array[T] real alpha; vector[N] theta; real<lower=0> beta; }
model {
  alpha ~ normal(0, 100);
  theta ~ normal(0, 1);
  beta ~ normal(0, 100);
  for (k in 1:T) r[k] ~ bernoulli_logit(beta * theta - alpha[k]);
}
