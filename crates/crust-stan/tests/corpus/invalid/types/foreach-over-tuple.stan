// mistake: a for-each loop over a tuple
model {
  for (i in (1, 2)) {
    print(i);
  }
}
