// mistake: an unnormalised density in an _lcdf function
functions {
  real foo_lcdf(real x, real m) {
    return normal_lupdf(x | m, 1);
  }
}
