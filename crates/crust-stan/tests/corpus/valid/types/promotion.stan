// Implicit promotion int -> real -> complex in definitions, containers and literals.
transformed data {
  int i = 2;
  real r = i;
  complex z = i;
  complex z2 = r;
  array[2] real ar = {1, 2};
  array[2] complex ac = {1, 2};
  array[2] int ai = {3, 4};
  array[2, 2] real ar2 = {{1, 2}, {3.5, 4}};
  array[2] real from_ints = ai;
  array[2] complex from_reals = ar;
  array[2, 2] complex from_reals2 = ar2;
  vector[2] v = [i, r]';
  complex_vector[2] cv = v;
  complex_row_vector[2] crv = [1, 2];
  complex_matrix[2, 2] cm = [[1, 2], [3, 4i]];
  array[2] complex_vector[2] acv = {v, v};
  tuple(real, complex) t = (1, 2);
  array[2] tuple(real, array[2] complex) at = {(1, {1, 2}), (2.0, {1i, 2})};
  real cond = 1 > 0 ? 1 : 2.5;
  complex cond_z = 1 > 0 ? 1 : 2i;
}
