// Cormack-Jolly-Seber for single animals.
functions {
  array[] real prob_uncaptured(int T, array[] real p, array[] real phi) {
    array[T] real chi;
    chi[T] = 1.0;
    for (t in 1:(T - 1)) {
      int t_curr = T - t;
      int t_next = t_curr + 1;
      chi[t_curr] = (1 - phi[t_curr]) + phi[t_curr] * (1 - p[t_next]) * chi[t_next];
    }
    return chi;
  }
}
data { int I; int T; array[I, T] int<lower=0, upper=1> X; array[I] int first; array[I] int last; vector[I] z; }
parameters { vector[T] gp; real b; real<lower=0> sigma; vector[T] gphi; vector[I] eps; }
model {
  gp ~ normal(0, 1.5);
  gphi ~ normal(0, 1.5);
  b ~ normal(0, 1);
  sigma ~ normal(0, 1);
  eps ~ normal(0, 1);
  for (i in 1:I) {
    array[T] real p;
    array[T] real phi;
    array[T] real chi;
    for (t in 1:T) {
      p[t] = inv_logit(gp[t] + b * z[i]);
      phi[t] = inv_logit(gphi[t] + sigma * eps[i]);
    }
    chi = prob_uncaptured(T, p, phi);
    if (first[i] > 0) {
      for (t in (first[i] + 1):last[i]) {
        1 ~ bernoulli(phi[t - 1]);
        X[i, t] ~ bernoulli(p[t]);
      }
      1 ~ bernoulli(chi[last[i]]);
    }
  }
}
