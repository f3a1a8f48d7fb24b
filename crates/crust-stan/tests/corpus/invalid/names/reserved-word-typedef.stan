// mistake: the word typedef as a variable
data {
  real typedef;
}
