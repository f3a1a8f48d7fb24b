// mistake: bounds on a simplex
parameters {
  simplex<lower=0>[3] p;
}
