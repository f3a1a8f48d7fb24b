// mistake: the functor is not declared
parameters {
  real k;
}
model {
  vector[1] z = solve_newton(residual, [1]', k);
}
