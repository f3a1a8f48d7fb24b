// mistake: an array literal with a vector and a row vector
data {
  vector[3] v;
}
transformed data {
  array[2] vector[3] a = {v, v'};
}
