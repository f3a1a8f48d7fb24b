// mistake: equality of arrays
data {
  array[3] int a;
}
transformed data {
  int c = a == a;
}
