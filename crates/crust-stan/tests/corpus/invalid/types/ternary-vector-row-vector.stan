// mistake: a vector and a row vector as branches
data {
  vector[3] v;
}
transformed data {
  vector[3] a = 1 ? v : v';
}
