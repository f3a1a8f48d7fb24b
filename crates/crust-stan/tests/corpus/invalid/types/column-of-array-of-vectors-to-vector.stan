// mistake: the first elements of an array of vectors are an array
data {
  array[2] vector[3] a;
}
transformed data {
  vector[2] b = a[ : , 1];
}
