// mistake: assigns a vector to a real
data {
  vector[3] v;
}
transformed data {
  real a = v;
}
