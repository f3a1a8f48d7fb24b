// mistake: a vector condition in a ternary
data {
  vector[3] v;
}
transformed data {
  real a = v ? 1 : 2;
}
