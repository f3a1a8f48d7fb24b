// mistake: an offset together with a lower bound
parameters {
  real<offset=0, lower=1> x;
}
