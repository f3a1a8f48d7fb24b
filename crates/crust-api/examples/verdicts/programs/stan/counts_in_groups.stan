data {
  int N;
  int J;
  array[N] int g;
  vector[N] log_e;
  array[N] int y;
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[J] eta;
}
transformed parameters {
  vector[J] a = mu + tau * eta;
}
model {
  mu ~ normal(0, 3);
  tau ~ student_t(3, 0, 1);
  eta ~ std_normal();
  y ~ poisson_log(a[g] + log_e);
}
