// mistake: a variable in the functions block
functions {
  real x;
}
