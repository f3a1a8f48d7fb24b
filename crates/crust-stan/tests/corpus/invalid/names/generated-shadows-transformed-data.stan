// mistake: a generated quantity has the name of a transformed data variable
transformed data {
  real m = 1;
}
generated quantities {
  real m = 2;
}
