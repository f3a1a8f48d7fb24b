// mistake: a single = in a while condition
transformed data {
  int a = 1;
  while (a = 3) {
    a += 1;
  }
}
