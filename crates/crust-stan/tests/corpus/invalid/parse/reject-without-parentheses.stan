// mistake: a reject statement without parentheses
model {
  reject;
}
