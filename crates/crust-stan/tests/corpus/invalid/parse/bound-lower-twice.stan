// mistake: two lower bounds
data {
  real<lower=0, lower=1> x;
}
