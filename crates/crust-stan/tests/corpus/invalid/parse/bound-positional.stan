// mistake: a bound without a keyword
data {
  real<0, 1> x;
}
