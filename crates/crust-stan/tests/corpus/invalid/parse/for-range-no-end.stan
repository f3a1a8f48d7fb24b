// mistake: a loop whose range has no end
model {
  for (i in 1:) {
    print(i);
  }
}
