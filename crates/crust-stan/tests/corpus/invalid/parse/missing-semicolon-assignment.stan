// mistake: no semicolon after an assignment
transformed data {
  real a;
  a = 3
  a = 4;
}
