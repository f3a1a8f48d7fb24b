// Retired: array dimensions after the name together with a definition.
transformed data {
  int primes[4] = {2, 3, 5, 7};
  real grid[2, 2] = {{1.0, 2.0}, {3.0, 4.0}};
  vector[2] pair[2] = {[1, 2]', [3, 4]'};
}
generated quantities {
  int copy[4] = primes;
}
