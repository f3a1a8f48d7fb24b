// mistake: the bounds after the name
data {
  real x<lower=0>;
}
