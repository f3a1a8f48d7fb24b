// mistake: the result of a solver for an array
functions {
  vector f(vector y) {
    return 1 - y;
  }
}
transformed data {
  array[1] real z = solve_newton(f, [1]');
}
