// mistake: the word export as a variable
data {
  real export;
}
