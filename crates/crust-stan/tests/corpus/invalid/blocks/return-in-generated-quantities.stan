// mistake: a return inside of a loop in generated quantities
generated quantities {
  for (i in 1 : 3) {
    return;
  }
}
