// mistake: an element of the result of a call on the left of an assignment
model {
  rep_vector(1, 2)[1] = 3;
}
