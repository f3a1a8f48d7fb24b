// mistake: a constrained type for a local variable
model {
  simplex[3] p;
}
