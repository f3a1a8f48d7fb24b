// mistake: the size of a generated quantity depends on a transformed parameter
transformed parameters {
  real t = 2;
}
generated quantities {
  array[t > 1] real q;
}
