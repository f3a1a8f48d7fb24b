// mistake: a matrix without sizes in generated quantities
generated quantities {
  matrix m;
}
