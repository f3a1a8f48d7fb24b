// mistake: a functional as the functor of another
transformed data {
  vector[1] z = solve_newton(solve_powell, [1]');
}
