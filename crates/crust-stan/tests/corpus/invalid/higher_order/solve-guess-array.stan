// mistake: the guess of a solver is an array
functions {
  vector f(vector y, real k) {
    return k - y;
  }
}
parameters {
  real k;
}
model {
  vector[1] z = solve_powell(f, {1.0}, k);
}
