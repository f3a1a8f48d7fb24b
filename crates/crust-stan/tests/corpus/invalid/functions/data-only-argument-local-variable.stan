// mistake: a local variable of the model depends on a parameter and is passed to a data-only argument
functions {
  real f(data real x) {
    return x;
  }
}
parameters {
  real p;
}
model {
  real q = 2 * p;
  target += f(q);
}
