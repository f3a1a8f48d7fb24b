// mistake: a function body without braces
functions {
  real f(real x)
    return x;
}
