// mistake: a for-each loop over a complex vector
data {
  complex_vector[3] z;
}
model {
  for (x in z) {
    print(x);
  }
}
