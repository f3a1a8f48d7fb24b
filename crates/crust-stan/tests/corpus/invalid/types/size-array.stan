// mistake: a size that is an array
data {
  array[2] int n;
  matrix[n, 2] v;
}
