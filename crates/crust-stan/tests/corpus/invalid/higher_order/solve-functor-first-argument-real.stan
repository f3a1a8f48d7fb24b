// mistake: the functor of a solver takes a real first
functions {
  vector f(real y, real k) {
    return [k - y]';
  }
}
parameters {
  real k;
}
model {
  vector[1] z = solve_powell(f, [1]', k);
}
