// mistake: the word repeat as a variable
data {
  int repeat;
}
