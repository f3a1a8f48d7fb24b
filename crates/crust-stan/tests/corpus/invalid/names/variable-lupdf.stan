// mistake: a variable whose name ends in _lupdf
parameters {
  real y_lupdf;
}
