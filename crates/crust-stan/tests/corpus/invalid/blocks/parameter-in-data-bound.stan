// mistake: a bound of a data variable depends on a parameter
data {
  real<lower=p> x;
}
parameters {
  real p;
}
