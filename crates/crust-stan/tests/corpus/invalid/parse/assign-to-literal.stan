// mistake: a literal on the left of an assignment
model {
  3 = 4;
}
