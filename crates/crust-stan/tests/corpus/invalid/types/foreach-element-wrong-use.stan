// mistake: an element of a for-each loop over an array of vectors used as a scalar
data {
  array[3] vector[2] a;
}
model {
  for (x in a) {
    real b = x;
  }
}
