// mistake: a parameter for a data-only argument of the functor
functions {
  vector f(vector y, data real k) {
    return k - y;
  }
}
parameters {
  real k;
}
model {
  vector[1] z = solve_newton(f, [1]', k);
}
