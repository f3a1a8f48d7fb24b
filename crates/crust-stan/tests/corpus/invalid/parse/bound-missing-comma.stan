// mistake: no comma between two bounds
data {
  real<lower=0 upper=1> x;
}
