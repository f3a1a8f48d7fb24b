// mistake: assigns a real to an int
transformed data {
  int a;
  a = 2.5;
}
