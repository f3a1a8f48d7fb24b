// mistake: the functor of a solver returns a real
functions {
  real f(vector y, real k) {
    return k - y[1];
  }
}
parameters {
  real k;
}
model {
  vector[1] z = solve_newton(f, [1]', k);
}
