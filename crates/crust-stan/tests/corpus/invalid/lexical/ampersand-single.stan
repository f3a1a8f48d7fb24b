// mistake: a single & is no operator
data {
  int a;
  int b;
}
transformed data {
  int c = a & b;
}
