// mistake: a while without parentheses
transformed data {
  int a = 1;
  while a < 3 {
    a += 1;
  }
}
