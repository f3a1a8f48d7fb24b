// mistake: a for-each variable has the name of a local variable
data {
  vector[3] v;
}
model {
  real x = 1;
  for (x in v) {
    print(x);
  }
}
