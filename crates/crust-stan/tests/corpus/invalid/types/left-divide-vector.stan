// mistake: left division by a vector
data {
  vector[3] a;
}
transformed data {
  vector[3] c = a \ a;
}
