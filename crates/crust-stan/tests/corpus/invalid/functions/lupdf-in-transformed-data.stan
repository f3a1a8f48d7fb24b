// mistake: an unnormalised density in transformed data
transformed data {
  real a = normal_lupdf(1 | 0, 1);
}
