// mistake: an if condition that is a tuple
model {
  if ((1, 2)) {
    print(1);
  }
}
