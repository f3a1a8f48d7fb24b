// mistake: the C word struct as a variable
data {
  real struct;
}
