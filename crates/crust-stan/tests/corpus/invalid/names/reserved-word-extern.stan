// mistake: the word extern as a parameter
parameters {
  real extern;
}
