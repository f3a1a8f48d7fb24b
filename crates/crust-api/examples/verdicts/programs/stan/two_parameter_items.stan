data {
  int I;
  int J;
  int N;
  array[N] int ii;
  array[N] int jj;
  array[N] int<lower=0, upper=1> y;
}
parameters {
  vector<lower=0>[I] alpha;
  vector[I] beta;
  vector[J] theta;
}
model {
  alpha ~ lognormal(0, 0.5);
  beta ~ normal(0, 2);
  theta ~ std_normal();
  y ~ bernoulli_logit(alpha[ii] .* (theta[jj] - beta[ii]));
}
