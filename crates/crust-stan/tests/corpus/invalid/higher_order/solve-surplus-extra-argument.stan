// mistake: a solver has an argument that its functor does not take
functions {
  vector f(vector y) {
    return 1 - y;
  }
}
parameters {
  real k;
}
model {
  vector[1] z = solve_powell(f, [1]', k);
}
