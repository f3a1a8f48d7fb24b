// mistake: assigns to an element of a data variable
data {
  vector[3] x;
}
model {
  x[1] = 3;
}
