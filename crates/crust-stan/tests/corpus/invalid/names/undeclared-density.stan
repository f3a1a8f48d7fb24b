// mistake: increments target by a density that does not exist
parameters {
  real x;
}
model {
  target += gaussian_lpdf(x | 0, 1);
}
