// mistake: two names without a comma
data {
  real x y;
}
