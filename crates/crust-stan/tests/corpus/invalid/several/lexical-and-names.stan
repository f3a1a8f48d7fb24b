// mistake: a character that does not exist and an undeclared name (2 mistakes)
transformed data {
  real a = 3 @ 4;
}
model {
  target += nothing1;
}
