// mistake: a library _jacobian function called in the model block
parameters {
  vector[3] x;
}
model {
  vector[4] y = simplex_jacobian(x);
}
