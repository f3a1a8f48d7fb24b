// mistake: a random number generator in the size of a generated quantity
generated quantities {
  array[poisson_rng(3)] real x;
}
