// mistake: ~= is not an inequality operator
data {
  int a;
}
model {
  if (a ~= 3) {
    print(a);
  }
}
