// mistake: the logical negation of a complex number
data {
  complex a;
}
transformed data {
  int c = !a;
}
