// mistake: a triple for a pair
transformed data {
  tuple(real, real) t = (1.0, 2.0, 3.0);
}
