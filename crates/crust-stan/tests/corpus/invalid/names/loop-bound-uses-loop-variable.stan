// mistake: the range of a loop uses its own variable
model {
  for (i in 1:i) {
    print(i);
  }
}
