// mistake: multiplies two vectors
data {
  vector[3] a;
  vector[3] b;
}
transformed data {
  vector[3] c = a * b;
}
