// mistake: the branches of a ternary have different types
data {
  vector[3] v;
  real x;
}
transformed data {
  vector[3] a = 1 ? v : x;
}
