// mistake: an if without a statement
model {
  if (1)
}
