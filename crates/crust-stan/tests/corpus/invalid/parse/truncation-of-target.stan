// mistake: a truncation after target +=
parameters {
  real x;
}
model {
  target += normal_lpdf(x | 0, 1) T[0, 1];
}
