// mistake: a for-each loop over a complex matrix
data {
  complex_matrix[3, 3] z;
}
model {
  for (x in z) {
    print(x);
  }
}
