// mistake: a library function with the wrong signature as a functor
parameters {
  real k;
}
model {
  vector[1] z = solve_newton(exp, [1]', k);
}
