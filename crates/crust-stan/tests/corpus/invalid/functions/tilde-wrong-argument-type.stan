// mistake: an argument of the wrong type after the tilde
parameters {
  real x;
  matrix[2, 2] m;
}
model {
  x ~ normal(m, 1);
}
