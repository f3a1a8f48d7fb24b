// mistake: a bound with = but without a value
data {
  real<lower=> x;
}
