// mistake: the word lower as a variable
data {
  real lower;
}
