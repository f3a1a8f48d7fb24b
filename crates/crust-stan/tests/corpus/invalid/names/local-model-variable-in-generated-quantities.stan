// mistake: a local variable of the model is used in generated quantities
model {
  real a = 1;
}
generated quantities {
  real b = a;
}
