// mistake: the parenthesis of a condition is not closed
data {
  int a;
}
model {
  if (a > 1 {
    print(a);
  }
}
