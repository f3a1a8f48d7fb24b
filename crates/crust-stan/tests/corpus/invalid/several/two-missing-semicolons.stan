// mistake: two missing semicolons (2 mistakes)
data {
  int N
  real x;
}
model {
  target += x
}
