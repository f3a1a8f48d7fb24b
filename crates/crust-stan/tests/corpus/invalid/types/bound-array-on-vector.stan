// mistake: an array as the bound of a vector
data {
  array[3] real b;
  vector<upper=b>[3] x;
}
