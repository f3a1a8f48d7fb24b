// mistake: an _lpdf call with a comma instead of the bar
parameters {
  real x;
}
model {
  target += normal_lpdf(x, 0, 1);
}
