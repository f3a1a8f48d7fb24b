// mistake: the functor is the result of a call
functions {
  vector f(vector y, real k) {
    return k - y;
  }
}
parameters {
  real k;
}
model {
  vector[1] z = solve_newton(f([1]', k), [1]', k);
}
