// mistake: three indexes for an array of vectors
data {
  array[3] vector[3] m;
}
transformed data {
  real a = m[1, 2, 3];
}
