// mistake: a random number generator as the functor of reduce_sum
functions {
  real part_rng(array[] int s, int a, int b) {
    return normal_rng(0, 1);
  }
}
data {
  array[4] int y;
}
generated quantities {
  real z = reduce_sum(part_rng, y, 1);
}
