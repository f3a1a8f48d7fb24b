// mistake: the name of a type as a variable
data {
  int vector;
}
