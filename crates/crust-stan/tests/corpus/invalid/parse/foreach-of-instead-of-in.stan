// mistake: of instead of in
data {
  vector[3] v;
}
model {
  for (x of v) {
    print(x);
  }
}
