// mistake: a loop whose range has a step
model {
  for (i in 1:2:9) {
    print(i);
  }
}
