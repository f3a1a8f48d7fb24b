// Include with a bare file name; the include path is `parts`.
functions {
  #include shape.stanfunctions
}
data {
  real t;
}
generated quantities {
  real b = bump(t);
}
