// mistake: a loop that ends at a vector
data {
  vector[3] n;
}
model {
  for (i in 1 : n) {
    print(i);
  }
}
