// mistake: the name of a block in the singular
parameter {
  real x;
}
