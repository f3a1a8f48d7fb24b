// mistake: two offsets
parameters {
  real<offset=0, offset=1> x;
}
