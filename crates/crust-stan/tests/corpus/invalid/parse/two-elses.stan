// mistake: two else branches
data {
  int a;
}
model {
  if (a) {
    print(1);
  } else {
    print(2);
  } else {
    print(3);
  }
}
