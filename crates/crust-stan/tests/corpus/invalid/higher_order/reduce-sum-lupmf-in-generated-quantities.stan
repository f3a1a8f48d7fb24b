// mistake: an unnormalised functor of reduce_sum in generated quantities
functions {
  real part_lpmf(array[] int s, int a, int b) {
    return sum(s);
  }
}
data {
  array[4] int y;
}
generated quantities {
  real z = reduce_sum(part_lupmf, y, 1);
}
