// Open-population mark-recapture: an alive/dead filter per animal, with the state as a two-vector.
functions {
  real animal_loglik(array[] int sighted, int marked_at, vector survive, vector detect) {
    // [alive, dead] weights after each occasion
    vector[2] state = [1, 0]';
    real ll = 0;
    for (occ in marked_at + 1 : size(sighted)) {
      real alive = state[1] * survive[occ - 1];
      real dead = state[2] + state[1] * (1 - survive[occ - 1]);
      if (sighted[occ] == 1) {
        state = [alive * detect[occ], 0]';
      } else {
        state = [alive * (1 - detect[occ]), dead]';
      }
      real norm_const = sum(state);
      ll += log(norm_const);
      state /= norm_const;
    }
    return ll;
  }
}
data {
  int<lower=1> n_animal;
  int<lower=2> n_occ;
  array[n_animal, n_occ] int<lower=0, upper=1> sighted;
  array[n_animal] int<lower=1, upper=n_occ> marked_at;
}
parameters {
  vector[n_occ - 1] survive_logit;
  real detect_mean;
  real<lower=0> detect_sd;
  vector<offset=detect_mean, multiplier=detect_sd>[n_occ] detect_logit;
}
transformed parameters {
  vector<lower=0, upper=1>[n_occ - 1] survive = inv_logit(survive_logit);
  vector<lower=0, upper=1>[n_occ] detect = inv_logit(detect_logit);
}
model {
  survive_logit ~ logistic(0, 1);
  detect_mean ~ logistic(0, 1);
  detect_sd ~ normal(0, 1);
  detect_logit ~ normal(detect_mean, detect_sd);
  for (a in 1 : n_animal) {
    target += animal_loglik(sighted[a], marked_at[a], survive, detect);
  }
}
