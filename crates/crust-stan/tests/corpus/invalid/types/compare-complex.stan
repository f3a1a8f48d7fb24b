// mistake: an order between complex numbers
data {
  complex a;
}
transformed data {
  int c = a < 2;
}
