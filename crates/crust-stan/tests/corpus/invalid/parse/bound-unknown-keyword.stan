// mistake: a bound with an unknown keyword
data {
  real<low=0> x;
}
