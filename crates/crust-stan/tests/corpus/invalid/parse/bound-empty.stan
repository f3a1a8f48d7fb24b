// mistake: empty bounds
data {
  real<> x;
}
