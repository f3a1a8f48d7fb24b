// mistake: a keyword as a variable
data {
  int for;
}
