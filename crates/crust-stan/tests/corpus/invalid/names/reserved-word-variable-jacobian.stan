// mistake: the word jacobian as a variable
model {
  real jacobian = 1;
}
