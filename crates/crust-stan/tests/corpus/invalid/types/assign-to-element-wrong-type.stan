// mistake: assigns a vector to one element of a vector
data {
  vector[3] v;
}
transformed data {
  vector[3] w;
  w[1] = v;
}
