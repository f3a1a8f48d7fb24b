// mistake: the bound of a loop is not declared
model {
  for (i in 1:M) {
    print(i);
  }
}
