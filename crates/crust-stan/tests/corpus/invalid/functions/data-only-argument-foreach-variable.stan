// mistake: a for-each variable counts as non-data
functions {
  real f(data real x) {
    return x;
  }
}
data {
  vector[2] v;
}
model {
  for (x in v) {
    target += f(x);
  }
}
