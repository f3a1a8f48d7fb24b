// mistake: two nested loops have the same variable
model {
  for (i in 1:3) {
    for (i in 1:2) {
      print(i);
    }
  }
}
