// mistake: a data variable among the targets of a tuple assignment
data {
  real x;
}
model {
  real y;
  (y, x) = (1, 2);
}
