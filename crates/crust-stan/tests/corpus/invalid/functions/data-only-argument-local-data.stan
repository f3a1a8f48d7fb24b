// mistake: a local variable of the model counts as non-data even if it is a copy of data
functions {
  real f(data real x) {
    return x;
  }
}
data {
  real d;
}
model {
  real q = d;
  target += f(q);
}
