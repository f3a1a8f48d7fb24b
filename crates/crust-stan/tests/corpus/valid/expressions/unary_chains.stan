// Chains of prefix and postfix operators.
transformed data {
  int i = 3;
  real r = 2.5;
  complex z = 1i;
  vector[2] v = [1, 2]';
  matrix[2, 2] m = v * v';
  int a = - - -i;
  int b = !!!i;
  int c = +-+-i;
  int d = !-i;
  int e = -!i;
  real f = -r ^ -r;
  vector[2] g = --v;
  row_vector[2] h = -v';
  vector[2] k = v'';
  matrix[2, 2] l = m''' * -m'';
  complex n = - -z;
  complex_row_vector[2] o = (-z * v)';
  array[1] int unused = {-+-1};
}
