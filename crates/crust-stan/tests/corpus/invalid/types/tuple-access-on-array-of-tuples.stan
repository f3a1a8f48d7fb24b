// mistake: an array of tuples is accessed like a tuple
data {
  array[3] tuple(real, int) t;
}
transformed data {
  real a = t.1;
}
