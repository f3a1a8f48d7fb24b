// mistake: two loop variables
data {
  matrix[3, 2] v;
}
model {
  for (x, y in v) {
    print(x);
  }
}
