// The operators ^ and .^ on every pairing of scalars and containers that is free of warnings.
data { int i; real r; complex z; vector[2] v; row_vector[2] w; matrix[2, 2] m; array[2] real a; array[2] vector[2] av; }
transformed data {
  real a1 = i ^ i + r ^ i + i ^ r + r ^ r;
  complex a2 = z ^ z + z ^ r + r ^ z + i ^ z;
  vector[2] b1 = v ^ 2 + v ^ r + r ^ v + v ^ v + v .^ v + v .^ 2 + i .^ v;
  row_vector[2] b2 = w ^ 2 + 2 ^ w + w ^ w + w .^ w;
  matrix[2, 2] b3 = 2 ^ m + m ^ m + m .^ m + m .^ 2 + r .^ m;
  array[2] real c1 = a ^ 2;
  array[2] real c2 = pow(a, a);
  array[2] vector[2] c3 = av ^ 2;
  real d = -r ^ 2 ^ r - (-r) ^ 2 + r ^ -i ^ -i;
}
