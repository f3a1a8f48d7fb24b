// mistake: the size of a local variable is a real
data {
  real n;
}
model {
  vector[n] v;
}
