// mistake: a non-breaking space between type and name
data {
  real x;
}
