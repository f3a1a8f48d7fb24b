// mistake: a bound on the elements of a local array
model {
  array[3] real<lower=0> a;
}
