// mistake: the times of dae depend on a parameter
functions {
  vector f(real t, vector y, vector yp) {
    return yp + y;
  }
}
parameters {
  real p;
}
model {
  array[1] vector[1] z = dae(f, [1]', [1]', 0, {p});
}
