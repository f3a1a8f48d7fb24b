// mistake: the word static as a variable
data {
  real static;
}
