// mistake: assigns to a data variable in transformed data
data {
  real x;
}
transformed data {
  x = 3;
}
