// Shrinkage regression: half-Cauchy local scales as a ratio of normals, with a soft cap on each scale.
functions {
  vector capped(vector s, real cap) {
    return s ./ sqrt(1 + square(s / cap));
  }
}
data {
  int<lower=1> n_patient;
  int<lower=1> n_gene;
  matrix[n_patient, n_gene] expression;
  array[n_patient] int<lower=0, upper=1> relapse;
  real<lower=0> cap_guess;
}
parameters {
  real baseline;
  vector[n_gene] direction;
  vector<lower=0>[n_gene] num;
  vector<lower=0>[n_gene] den;
  real<lower=0> overall;
  real<lower=0> cap;
}
transformed parameters {
  vector[n_gene] effect = direction .* capped(overall * num .* inv_sqrt(den), cap);
}
model {
  baseline ~ student_t(5, 0, 2);
  direction ~ std_normal();
  num ~ std_normal();
  den ~ gamma(0.5, 0.5);
  overall ~ cauchy(0, 0.1);
  cap ~ inv_gamma(3, 2 * cap_guess);
  relapse ~ bernoulli_logit_glm(expression, baseline, effect);
}
generated quantities {
  int<lower=0> n_large = 0;
  for (g in 1 : n_gene) n_large += abs(effect[g]) > 0.5;
}
