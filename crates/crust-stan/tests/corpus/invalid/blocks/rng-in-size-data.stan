// mistake: a random number generator in the size of data
data {
  vector[poisson_rng(3)] x;
}
