// mistake: an integer computed from a parameter where data are required
functions {
  real pick(data int which) {
    return which;
  }
}
parameters {
  real a;
}
model {
  a ~ normal(pick(a > 2 ? 1 : 2), 1);
}
