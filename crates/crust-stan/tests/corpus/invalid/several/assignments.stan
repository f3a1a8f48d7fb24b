// mistake: assigns to data, to a parameter and to a loop variable (3 mistakes)
data {
  real d;
}
parameters {
  real p;
}
model {
  d = 1;
  p = 2;
  for (i in 1 : 3) {
    i = 2;
  }
}
