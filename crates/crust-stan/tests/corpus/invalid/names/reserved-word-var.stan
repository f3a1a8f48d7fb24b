// mistake: the word var as a variable
data {
  real var;
}
