// mistake: an array of vectors as the variate of a univariate distribution
parameters {
  array[2] vector[2] x;
}
model {
  x ~ normal(0, 1);
}
