// mistake: assigns to a data variable in the model block
data {
  real x;
}
model {
  x = 3;
}
