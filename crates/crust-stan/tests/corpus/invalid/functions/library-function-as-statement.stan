// mistake: a library function as a statement
model {
  exp(1.0);
}
