// mistake: two overloads of the functor fit equally well
functions {
  vector residual(vector y, real scale, int power) {
    return scale * y ^ power;
  }
  vector residual(vector y, int scale, real power) {
    return scale * y ^ power;
  }
}
transformed data {
  vector[1] root = solve_newton(residual, [1]', 1, 1);
}
