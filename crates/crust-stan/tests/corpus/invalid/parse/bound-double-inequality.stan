// mistake: a bound written as an inequality
data {
  real<0 < x> x;
}
