// mistake: a comma after the last name
data {
  real x, y,;
}
