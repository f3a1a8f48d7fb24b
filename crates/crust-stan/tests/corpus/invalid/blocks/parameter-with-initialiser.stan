// mistake: a parameter with a value
parameters {
  real x = 1;
}
