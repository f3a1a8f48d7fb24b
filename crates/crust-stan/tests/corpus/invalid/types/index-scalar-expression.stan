// mistake: indexes an expression of scalar type
data {
  int x;
}
transformed data {
  int a = (x + 1)[1];
}
