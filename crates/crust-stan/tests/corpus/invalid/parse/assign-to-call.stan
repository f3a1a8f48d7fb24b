// mistake: a function call on the left of an assignment
model {
  exp(1) = 4;
}
