// mistake: a blank inside of the operator <=
data {
  int a;
}
model {
  if (a < = 3) {
    print(a);
  }
}
