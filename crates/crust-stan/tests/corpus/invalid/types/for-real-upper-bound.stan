// mistake: a loop that ends at a real
data {
  real n;
}
model {
  for (i in 1 : n) {
    print(i);
  }
}
