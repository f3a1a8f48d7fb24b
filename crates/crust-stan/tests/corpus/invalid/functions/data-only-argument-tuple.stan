// mistake: a tuple with a parameter for a data-only argument
functions {
  real f(data tuple(real, real) x) {
    return x.1;
  }
}
parameters {
  real p;
}
model {
  target += f((p, 1.0));
}
