// Delta-rule learning of cue values with separate rates for gains and losses, ratings as the response.
functions {
  matrix cue_values(array[] int cue, vector outcome, int n_cue, real gain_rate, real loss_rate) {
    matrix[size(cue), n_cue] history;
    row_vector[n_cue] value = zeros_row_vector(n_cue);
    for (t in 1 : size(cue)) {
      real surprise = outcome[t] - value[cue[t]];
      value[cue[t]] += surprise > 0 ? gain_rate * surprise : loss_rate * surprise;
      history[t] = value;
    }
    return history;
  }
}
data {
  int<lower=1> n_person;
  int<lower=1> n_trial;
  int<lower=1> n_cue;
  array[n_person, n_trial] int<lower=1, upper=n_cue> cue;
  matrix[n_person, n_trial] outcome;
  matrix[n_person, n_trial] rating;
}
parameters {
  array[n_person] tuple(real<lower=0, upper=1>, real<lower=0, upper=1>) rate;
  vector<lower=0>[2] shape;
  real<lower=0> noise;
}
model {
  shape ~ gamma(2, 1);
  noise ~ exponential(1);
  for (i in 1 : n_person) {
    rate[i].1 ~ beta(shape[1], 2);
    rate[i].2 ~ beta(shape[2], 2);
    matrix[n_trial, n_cue] value = cue_values(cue[i], outcome[i]', n_cue, rate[i].1, rate[i].2);
    for (t in 1 : n_trial) rating[i, t] ~ normal(value[t, cue[i, t]], noise);
  }
}
