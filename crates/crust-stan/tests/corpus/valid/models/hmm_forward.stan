// Hidden Markov model for activity counts: forward filtering in a function, backward sampling in generated quantities.
functions {
  vector emission(int steps, vector log_rate) {
    vector[num_elements(log_rate)] e;
    for (s in 1 : num_elements(log_rate)) e[s] = poisson_log_lpmf(steps | log_rate[s]);
    return e;
  }
  array[] vector filter(array[] int steps, matrix log_move, vector log_init, vector log_rate) {
    int n_state = rows(log_move);
    array[size(steps)] vector[n_state] f;
    f[1] = log_init + emission(steps[1], log_rate);
    for (t in 2 : size(steps)) {
      vector[n_state] e = emission(steps[t], log_rate);
      for (to in 1 : n_state) {
        f[t, to] = log_sum_exp(f[t - 1] + log_move[ : , to]) + e[to];
      }
    }
    return f;
  }
}
data {
  int<lower=1> n_min;
  int<lower=2> n_state;
  array[n_min] int<lower=0> steps;
}
parameters {
  row_stochastic_matrix[n_state, n_state] move;
  simplex[n_state] init;
  ordered[n_state] log_rate;
}
model {
  for (s in 1 : n_state) move[s]' ~ dirichlet(1 + 9 * one_hot_vector(n_state, s));
  log_rate ~ normal(2, 2);
  target += log_sum_exp(filter(steps, log(move), log(init), log_rate)[n_min]);
}
generated quantities {
  array[n_min] int<lower=1, upper=n_state> state;
  {
    array[n_min] vector[n_state] f = filter(steps, log(move), log(init), log_rate);
    state[n_min] = categorical_logit_rng(f[n_min]);
    int t = n_min;
    while (t > 1) {
      t -= 1;
      state[t] = categorical_logit_rng(f[t] + log(move[ : , state[t + 1]]));
    }
  }
}
