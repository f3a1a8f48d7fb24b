data {
  int I;
  int J;
  array[J, I] int<lower=0, upper=1> y;
}
parameters {
  vector[I] a;
  vector[I] b;
  vector[J] theta;
}
model {
  a ~ normal(0, 2);
  b ~ normal(0, 2);
  theta ~ std_normal();
  for (j in 1:J) y[j] ~ bernoulli_logit(a * theta[j] - b);
}
