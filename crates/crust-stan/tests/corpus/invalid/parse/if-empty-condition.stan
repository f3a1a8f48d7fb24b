// mistake: an if without a condition
model {
  if () {
    print(1);
  }
}
