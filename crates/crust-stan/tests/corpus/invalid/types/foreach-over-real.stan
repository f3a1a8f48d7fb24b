// mistake: a for-each loop over a real
model {
  for (i in 3.5) {
    print(i);
  }
}
