// A hidden Markov model of counts by the library function, with a transition matrix from its rows.
data {
  int<lower=1> T;
  array[T] int<lower=0> y;
}
parameters {
  vector<lower=0, upper=1>[2] stay;
  positive_ordered[2] lambda;
}
model {
  matrix[2, 2] Gamma = [[stay[1], 1 - stay[1]], [1 - stay[2], stay[2]]];
  matrix[2, T] log_omega;
  for (t in 1:T) for (k in 1:2) log_omega[k, t] = poisson_lpmf(y[t] | lambda[k]);
  stay ~ beta(4, 1.5);
  lambda ~ gamma(2, 0.5);
  target += hmm_marginal(log_omega, Gamma, [0.4, 0.6]');
}
