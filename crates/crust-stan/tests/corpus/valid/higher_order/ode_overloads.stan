// ODE right-hand sides without extra arguments, overloaded, with tuple, matrix and complex extras, and nested use in a function.
functions {
  vector decay(real t, vector y) { return -y; }
  vector decay(real t, vector y, real k) { return -k * y; }
  vector linear(real t, vector y, matrix A, tuple(int, vector) extra, array[,] real grid) {
    return A * y + extra.2 * grid[1, extra.1];
  }
  vector spin(real t, vector y, complex w) { return [get_real(w) * y[1], get_imag(w) * y[2]]'; }
  array[] vector solve_all(vector y0, array[] real ts, matrix A) {
    return ode_bdf(linear, y0, 0, ts, A, (1, y0), {{1, 2}, {3, 4}});
  }
}
data { array[3] real ts; }
parameters { vector[2] y0; real k; matrix[2, 2] A; complex w; }
model {
  array[3] vector[2] a = ode_rk45(decay, y0, 0, ts);
  array[3] vector[2] b = ode_rk45(decay, y0, 0, ts, k);
  array[3] vector[2] c = solve_all(y0, ts, A);
  array[3] vector[2] d = ode_adams(spin, y0, 0, ts, w);
  array[1] vector[2] e = ode_rk45(decay, y0, 0, {1.5}, 2);
  target += sum(a[1]) + sum(b[2]) + sum(c[3]) + sum(d[1]) + sum(e[1]);
}
generated quantities { array[3] vector[2] f = solve_all(y0, ts, A); }
