// mistake: a bare variable as a statement
model {
  real a = 1;
  a;
}
