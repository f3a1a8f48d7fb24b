// mistake: the body of a loop is not closed
model {
  for (i in 1:3) {
    print(i);
}
