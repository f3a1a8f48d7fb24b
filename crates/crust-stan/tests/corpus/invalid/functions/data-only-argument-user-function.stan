// mistake: a parameter for a data-only argument of a user function
functions {
  real f(data real x) {
    return x;
  }
}
parameters {
  real p;
}
model {
  target += f(p);
}
