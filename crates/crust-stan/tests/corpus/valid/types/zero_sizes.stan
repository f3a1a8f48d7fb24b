// Sizes that are zero or are computed by calls and index expressions.
data {
  int<lower=0> n;
  array[n] int<lower=0> len;
}
transformed data {
  vector[0] nothing;
  matrix[0, 3] no_rows;
  array[0, 2] real no_pairs;
  row_vector[0] lit = [];
  vector[0] lit_t = []';
  vector[n > 0 ? len[1] : 0] first;
  array[sum(len)] vector[max(append_array({0}, len))] packed;
  matrix[size(len), num_elements(nothing) + 1] sized;
}
