// mistake: a transposed variable on the left of an assignment
model {
  vector[3] a;
  a' = [1, 2, 3];
}
