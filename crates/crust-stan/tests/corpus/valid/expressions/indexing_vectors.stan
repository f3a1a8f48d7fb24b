// All index forms on vectors and row vectors, real and complex.
data { int<lower=4> n; vector[n] v; row_vector[n] w; complex_vector[n] zv; complex_row_vector[n] zw; array[3] int idx; int i; }
transformed data {
  real a1 = v[1];
  real a2 = v[i + 1];
  vector[2] a3 = v[1 : 2];
  vector[n - 1] a4 = v[2 : ];
  vector[2] a5 = v[ : 2];
  vector[n] a6 = v[ : ];
  vector[n] a7 = v[];
  vector[3] a8 = v[idx];
  vector[2] a9 = v[{1, 3}];
  vector[2] a10 = v[idx][1 : 2];
  real a11 = v[idx[2]];
  real a12 = v[2 : 3][1];
  row_vector[2] b1 = w[1 : 2];
  row_vector[3] b2 = w[idx];
  row_vector[n - 2] b3 = w[3 : ];
  real b4 = w[n];
  row_vector[n] b5 = w[];
  complex c1 = zv[1];
  complex_vector[2] c2 = zv[ : 2];
  complex_row_vector[3] c3 = zw[idx];
  complex c4 = zw[2 : ][1];
  real d1 = (v + v)[1];
  real d2 = (v')[2];
  vector[2] d3 = (2 * v)[1 : 2];
  real d4 = exp(v)[1];
  vector[3] d5 = sort_asc(v)[idx];
}
