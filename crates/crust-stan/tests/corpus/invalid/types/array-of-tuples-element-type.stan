// mistake: an array of tuples with an element of the wrong type
data {
  array[2] tuple(real, real) a;
}
transformed data {
  array[2] tuple(int, real) b = a;
}
