// mistake: the transpose of a scalar
data {
  real a;
}
transformed data {
  real c = a';
}
