// mistake: a bare expression as a statement
model {
  real a = 1;
  a + 2;
}
