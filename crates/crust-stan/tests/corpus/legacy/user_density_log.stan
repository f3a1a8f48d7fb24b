// Retired: a user density that ends in `_log`, used in a `~` statement.
functions {
  real laplace_like_log(real x, real m, real b) {
    return -abs(x - m) / b - log(2 * b);
  }
  real pick_log(int k, vector th) {
    return log(th[k]);
  }
}
data { real x; int k; }
parameters { real m; real<lower=0> b; simplex[4] th; }
model {
  x ~ laplace_like(m, b);
  k ~ pick(th);
}
