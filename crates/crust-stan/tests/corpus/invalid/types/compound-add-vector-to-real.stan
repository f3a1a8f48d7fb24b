// mistake: adds a vector to a real in place
data {
  vector[3] v;
}
transformed data {
  real a = 1;
  a += v;
}
