// mistake: assigns to a for-each variable
model {
  vector[3] v = rep_vector(1, 3);
  for (x in v) {
    x = 2;
  }
}
