// mistake: the name of a block as a variable
data {
  int model;
}
