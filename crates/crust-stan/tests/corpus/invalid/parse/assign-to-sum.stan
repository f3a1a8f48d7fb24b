// mistake: a sum on the left of an assignment
model {
  real a;
  real b;
  a + b = 4;
}
