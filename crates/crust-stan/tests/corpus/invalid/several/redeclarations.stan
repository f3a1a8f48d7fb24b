// mistake: three redeclarations (3 mistakes)
data {
  real x;
  int x;
}
parameters {
  real x;
}
model {
  for (x in 1 : 3) {
    print(1);
  }
}
