// mistake: the word tuple as a variable
model {
  real tuple = 1;
}
