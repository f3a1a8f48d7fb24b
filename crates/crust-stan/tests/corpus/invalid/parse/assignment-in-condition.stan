// mistake: a single = in an if condition
data {
  int a;
}
model {
  if (a = 3) {
    print(a);
  }
}
