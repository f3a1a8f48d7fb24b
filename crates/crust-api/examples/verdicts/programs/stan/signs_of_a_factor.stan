data {
  int N;
  int D;
  matrix[N, D] y;
}
parameters {
  vector[D] lambda;
  vector[N] f;
  vector<lower=0>[D] psi;
}
model {
  lambda ~ normal(0, 2);
  f ~ std_normal();
  psi ~ exponential(1);
  for (n in 1:N) y[n] ~ normal(f[n] * lambda', psi);
}
