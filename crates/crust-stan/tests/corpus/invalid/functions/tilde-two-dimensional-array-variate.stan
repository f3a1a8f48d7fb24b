// mistake: a two-dimensional array as a variate
parameters {
  array[2, 2] real a;
}
model {
  a ~ normal(0, 1);
}
