// mistake: the word true as a variable
data {
  int true;
}
