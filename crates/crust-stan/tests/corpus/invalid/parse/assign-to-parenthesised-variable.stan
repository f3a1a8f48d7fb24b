// mistake: a variable in parentheses on the left of an assignment
model {
  real a;
  (a) = 3;
}
