// mistake: three reserved names (3 mistakes)
data {
  real struct;
  real x__;
}
parameters {
  real typedef;
}
