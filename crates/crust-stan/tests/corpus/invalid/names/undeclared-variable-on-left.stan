// mistake: assigns to a variable that is not declared
model {
  beta1 = 3;
}
