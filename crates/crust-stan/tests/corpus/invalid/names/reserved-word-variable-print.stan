// mistake: the word print as a variable
model {
  real print = 1;
}
