// mistake: a random number generator in the size of transformed data
transformed data {
  vector[poisson_rng(3)] x;
}
