// Assignments in which the right-hand side is promoted.
transformed data {
  real r; complex z; array[2] real ar; array[2] complex az; vector[2] v = [1, 2]'; complex_vector[2] cv; complex_matrix[2, 2] cm; array[2] complex_vector[2] acv;
  tuple(real, complex) t; array[2] tuple(real, complex) at;
  r = 1; z = 1; z = 2.5; ar = {1, 2}; az = {1, 2}; az = ar; ar[1] = 2; az[1] = 2; cv = v; cv[1] = 1; cv[ : ] = v; cm = v * v'; cm[1] = [1, 2]; cm[1, 1] = 2;
  acv[1] = v; acv = {v, v}; t = (1, 2); t.2 = 1; at = {(1, 2), (3, 4)}; at[1].2 = 2.5; at[2] = (1, 1i);
}
