// mistake: bounds on a complex number
parameters {
  complex<lower=0> z;
}
