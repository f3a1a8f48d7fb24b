// mistake: a break with an operand
model {
  for (i in 1:3) {
    break i;
  }
}
