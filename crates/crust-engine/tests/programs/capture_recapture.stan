// Cormack-Jolly-Seber: survival and recapture by occasion, with the chance of never being seen again.
functions {
  int last_seen(array[] int h) {
    int last = 1;
    for (t in 1:size(h)) if (h[t] == 1) last = t;
    return last;
  }
  vector never_again(int T, vector phi, vector p) {
    vector[T] chi;
    chi[T] = 1;
    for (s in 1 : T - 1) {
      int t = T - s;
      chi[t] = 1 - phi[t] + phi[t] * (1 - p[t]) * chi[t + 1];
    }
    return chi;
  }
}
data {
  int<lower=1> M;
  int<lower=2> T;
  array[M, T] int<lower=0, upper=1> h;
}
transformed data {
  array[M] int last;
  for (m in 1:M) last[m] = last_seen(h[m]);
}
parameters {
  vector<lower=0, upper=1>[T - 1] phi;
  vector<lower=0, upper=1>[T - 1] p;
}
transformed parameters {
  vector<lower=0, upper=1>[T] chi = never_again(T, phi, p);
}
model {
  phi ~ beta(3, 2);
  p ~ beta(2, 2);
  for (m in 1:M) {
    for (t in 2:last[m]) {
      1 ~ bernoulli(phi[t - 1]);
      h[m, t] ~ bernoulli(p[t - 1]);
    }
    1 ~ bernoulli(chi[last[m]]);
  }
}
