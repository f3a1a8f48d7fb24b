// mistake: a condition without parentheses
data {
  int a;
}
model {
  if a > 1 {
    print(a);
  }
}
