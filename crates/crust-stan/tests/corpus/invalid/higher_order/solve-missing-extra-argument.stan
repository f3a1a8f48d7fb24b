// mistake: a solver lacks an argument that its functor needs
functions {
  vector f(vector y, real k, vector w) {
    return k * w - y;
  }
}
parameters {
  real k;
}
model {
  vector[1] z = solve_newton(f, [1]', k);
}
