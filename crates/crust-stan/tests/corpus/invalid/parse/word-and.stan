// mistake: the word and is no operator
data {
  int a;
}
transformed data {
  int b = a > 1 and a < 3;
}
