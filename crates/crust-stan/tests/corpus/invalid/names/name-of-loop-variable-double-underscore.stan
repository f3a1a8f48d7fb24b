// mistake: a loop variable ends in two underscores
model {
  for (i__ in 1:3) {
    print(i__);
  }
}
