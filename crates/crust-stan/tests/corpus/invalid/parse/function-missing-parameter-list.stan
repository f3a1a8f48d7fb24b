// mistake: a function without parentheses
functions {
  real f {
    return 1;
  }
}
