// mistake: integer division of reals
transformed data {
  real c = 5.0 %/% 2.0;
}
