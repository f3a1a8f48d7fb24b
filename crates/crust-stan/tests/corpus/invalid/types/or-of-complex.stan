// mistake: logical or with a complex number
data {
  complex a;
}
transformed data {
  int c = a || 1;
}
