// mistake: a single bar as the or operator
data {
  int a;
}
model {
  if (a | 1) {
    print(a);
  }
}
