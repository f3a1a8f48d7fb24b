// mistake: a tuple as a bound
data {
  tuple(real, real) b;
  real<lower=b> x;
}
