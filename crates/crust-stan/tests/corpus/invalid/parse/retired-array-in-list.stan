// mistake: a retired array size in a list of names
data {
  real alpha, beta[3];
}
