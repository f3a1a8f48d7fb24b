// Data plus generated quantities: a pure simulator without parameters.
data {
  int<lower=1> n;
  real<lower=0> rate;
}
generated quantities {
  array[n] real waiting;
  for (i in 1 : n) {
    waiting[i] = exponential_rng(rate);
  }
}
