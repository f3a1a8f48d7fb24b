// mistake: a size inside of a tuple depends on a parameter
parameters {
  real p;
}
generated quantities {
  tuple(vector[p > 1 ? 2 : 3], real) t;
}
