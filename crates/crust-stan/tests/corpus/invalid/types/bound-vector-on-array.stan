// mistake: a vector as the bound of an array of reals
data {
  vector[3] b;
  array[3] real<lower=b> x;
}
