// mistake: a ternary with a real branch for an int
data {
  int c;
}
transformed data {
  int a = c ? 1 : 2.0;
}
