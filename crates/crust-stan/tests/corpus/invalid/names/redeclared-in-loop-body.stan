// mistake: a loop body declares the loop variable again
model {
  for (i in 1:3) {
    real i = 2;
  }
}
