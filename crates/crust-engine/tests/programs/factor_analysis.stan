// Two factors with a lower-triangular loading matrix, marginalised and with the scores as parameters.
data {
  int<lower=1> N;
  int<lower=2> D;
  array[N] vector[D] y;
}
transformed data {
  int F = 2;
  int free_loadings = F * (D - F) + (F * (F - 1)) %/% 2;
}
parameters {
  vector[free_loadings] l;
  vector<lower=0>[F] diagonal;
  vector<lower=0>[D] psi;
  matrix[F, N] scores;
}
transformed parameters {
  matrix[D, F] Lambda = rep_matrix(0, D, F);
  {
    int at = 0;
    for (f in 1:F) {
      Lambda[f, f] = diagonal[f];
      for (d in f + 1 : D) {
        at += 1;
        Lambda[d, f] = l[at];
      }
    }
  }
}
model {
  l ~ normal(0, 1);
  diagonal ~ normal(0, 1);
  psi ~ inv_gamma(3, 1);
  to_vector(scores) ~ std_normal();
  y ~ multi_normal(zeros_vector(D), tcrossprod(Lambda) + diag_matrix(psi));
  for (n in 1:N) y[n] ~ normal(Lambda * scores[:, n], sqrt(psi));
}
