// mistake: a local variable has the name of a parameter
parameters {
  real theta;
}
model {
  real theta = 1;
}
