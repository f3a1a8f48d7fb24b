// mistake: a constrained return type
functions {
  cov_matrix f(matrix x) {
    return x;
  }
}
