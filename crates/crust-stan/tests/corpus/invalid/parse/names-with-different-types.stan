// mistake: a second type after the comma
data {
  real x, int y;
}
