// mistake: an extra argument of a solver has the wrong type
functions {
  vector f(vector y, real k) {
    return k - y;
  }
}
parameters {
  vector[2] k;
}
model {
  vector[1] z = solve_newton(f, [1]', k);
}
