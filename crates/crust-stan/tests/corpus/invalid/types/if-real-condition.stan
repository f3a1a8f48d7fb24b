// mistake: an if condition that is a real
data {
  real x;
}
model {
  if (x) {
    print(x);
  }
}
