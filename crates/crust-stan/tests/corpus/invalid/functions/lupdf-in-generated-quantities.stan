// mistake: an unnormalised density in generated quantities
generated quantities {
  real a = normal_lupdf(1 | 0, 1);
}
