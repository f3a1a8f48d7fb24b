// mistake: the logical negation of a real
transformed data {
  int a = !2.5;
}
