// mistake: the modulus of a vector
data {
  vector[3] a;
}
transformed data {
  vector[3] c = a % 2;
}
