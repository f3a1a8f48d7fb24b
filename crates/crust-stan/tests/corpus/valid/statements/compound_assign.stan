// All compound assignment operators on scalars, containers and indexed targets.
transformed data {
  int i = 7;
  i += 1; i -= 2; i *= 3; i /= 2;
  real r = i;
  r += 1; r -= 0.5; r *= i; r /= 3;
  complex z = 1;
  z += r; z -= 1i; z *= z; z /= 2;
  vector[3] v = [1, 2, 3]';
  v += 1; v -= v; v *= 2; v /= 2; v .*= v; v ./= v;
  row_vector[3] w = v';
  w += w; w -= 0.5; w *= identity_matrix(3); w *= 2; w /= 4; w .*= w; w ./= w;
  matrix[3, 3] m = v * w;
  m += 1; m -= m; m *= m; m *= 3; m /= 2; m .*= m; m ./= m;
  v[1] += 1; v[2 : 3] *= 2; m[1, 2] -= 1; m[1] += w; m[ : , 2] .*= v; m[1][2] /= 2;
  array[2] real a = {1, 2};
  a[1] += a[2];
  array[2] vector[3] av = {v, v};
  av[1] += v; av[2, 1] *= 2; av[1][2] -= 1;
  tuple(int, vector[3]) t = (1, v);
  t.1 += 2; t.2 *= 3; t.2[1] -= 1; t.2[2 : 3] .*= v[1 : 2];
}
