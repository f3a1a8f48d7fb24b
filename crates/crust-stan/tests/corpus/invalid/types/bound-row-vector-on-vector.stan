// mistake: a row vector as the bound of a vector
data {
  row_vector[3] b;
  vector<lower=b>[3] x;
}
