// mistake: a matrix without sizes
data {
  matrix m;
}
