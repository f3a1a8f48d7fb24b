// mistake: an if condition that is a vector
data {
  vector[3] x;
}
model {
  if (x) {
    print(x);
  }
}
