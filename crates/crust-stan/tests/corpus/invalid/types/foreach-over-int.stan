// mistake: a for-each loop over an int
data {
  int n;
}
model {
  for (i in n) {
    print(i);
  }
}
