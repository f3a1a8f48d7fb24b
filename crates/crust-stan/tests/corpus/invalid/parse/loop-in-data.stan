// mistake: a loop in the data block
data {
  int N;
  for (i in 1:N) {
    print(i);
  }
}
