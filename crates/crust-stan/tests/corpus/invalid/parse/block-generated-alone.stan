// mistake: the word generated without quantities
generated {
  real x = 1;
}
