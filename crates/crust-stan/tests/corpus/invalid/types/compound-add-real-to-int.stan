// mistake: adds a real to an int in place
transformed data {
  int a = 1;
  a += 1.5;
}
