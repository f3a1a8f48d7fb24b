// mistake: declares a name twice in one statement
data {
  real x, x;
}
