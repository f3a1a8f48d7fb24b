// mistake: assigns to transformed data in the model block
transformed data {
  real x;
}
model {
  x = 3;
}
