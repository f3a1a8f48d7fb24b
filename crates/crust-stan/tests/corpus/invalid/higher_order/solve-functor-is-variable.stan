// mistake: the functor is a variable
parameters {
  vector[2] k;
}
model {
  vector[2] z = solve_newton(k, [1, 1]', k);
}
