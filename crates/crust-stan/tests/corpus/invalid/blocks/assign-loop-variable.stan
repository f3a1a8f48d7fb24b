// mistake: assigns to a loop variable
model {
  for (i in 1 : 3) {
    i = 2;
  }
}
