// mistake: the name lp__ as a variable
generated quantities {
  real lp__ = 1;
}
