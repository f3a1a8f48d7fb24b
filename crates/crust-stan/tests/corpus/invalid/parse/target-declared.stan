// mistake: target as the name of a variable
model {
  real target = 3;
}
