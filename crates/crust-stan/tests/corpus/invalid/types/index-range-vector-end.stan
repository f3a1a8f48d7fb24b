// mistake: an index range that ends with a vector
data {
  vector[3] v;
}
transformed data {
  vector[2] a = v[1 : v];
}
