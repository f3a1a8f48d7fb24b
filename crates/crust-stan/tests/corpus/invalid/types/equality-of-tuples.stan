// mistake: equality of tuples
data {
  tuple(int, int) a;
}
transformed data {
  int c = a == a;
}
