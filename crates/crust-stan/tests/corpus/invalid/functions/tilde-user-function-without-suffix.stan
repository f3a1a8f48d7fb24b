// mistake: a plain user function after the tilde
functions {
  real foo(real x, real m) {
    return x * m;
  }
}
parameters {
  real x;
}
model {
  x ~ foo(1);
}
