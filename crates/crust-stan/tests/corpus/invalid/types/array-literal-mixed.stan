// mistake: an array literal with a vector and a scalar
data {
  vector[3] v;
}
transformed data {
  array[2] vector[3] a = {v, 1.0};
}
