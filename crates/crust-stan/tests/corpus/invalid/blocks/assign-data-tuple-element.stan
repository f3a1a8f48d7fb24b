// mistake: assigns to an element of a data tuple
data {
  tuple(real, real) t;
}
model {
  t.1 = 3;
}
