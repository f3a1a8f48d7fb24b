// Ordinal probit for survey answers: cut points from a simplex through std_normal_qf with a hand-written Jacobian.
functions {
  vector cuts_jacobian(vector p) {
    int K = num_elements(p);
    vector[K - 1] c = std_normal_qf(cumulative_sum(p)[ : (K - 1)]);
    jacobian += -std_normal_lpdf(c | );
    return c;
  }
}
data {
  int<lower=1> n_answer;
  int<lower=1> n_question;
  int<lower=2> n_level;
  array[n_answer] int<lower=1, upper=n_question> question;
  array[n_answer] int<lower=1, upper=n_level> answer;
  vector[n_answer] age;
}
parameters {
  array[n_question] simplex[n_level] p;
  real b_age;
}
transformed parameters {
  array[n_question] vector[n_level - 1] cut;
  for (q in 1 : n_question) cut[q] = cuts_jacobian(p[q]);
}
model {
  b_age ~ normal(0, 1);
  for (q in 1 : n_question) p[q] ~ dirichlet(rep_vector(3, n_level));
  for (a in 1 : n_answer) answer[a] ~ ordered_probit(b_age * age[a], cut[question[a]]);
}
generated quantities {
  array[n_answer] int<lower=1, upper=n_level> simulated;
  for (a in 1 : n_answer) simulated[a] = ordered_probit_rng(b_age * age[a], cut[question[a]]);
}
