// mistake: an _lcdf call with a comma instead of the bar
parameters {
  real x;
}
model {
  target += normal_lcdf(x, 0, 1);
}
