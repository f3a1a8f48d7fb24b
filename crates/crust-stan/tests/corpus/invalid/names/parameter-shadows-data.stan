// mistake: a parameter has the name of a data variable
data {
  real x;
}
parameters {
  real x;
}
