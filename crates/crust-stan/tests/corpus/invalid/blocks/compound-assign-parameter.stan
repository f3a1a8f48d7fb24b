// mistake: adds to a parameter in place
parameters {
  real x;
}
model {
  x += 3;
}
