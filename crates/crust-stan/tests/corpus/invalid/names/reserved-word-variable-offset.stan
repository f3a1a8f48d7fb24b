// mistake: the word offset as a variable
data {
  real offset;
}
