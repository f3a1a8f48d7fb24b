// Bounds that depend on data, transformed data and earlier parameters.
data {
  int<lower=1> n;
  vector[n] y;
  real<lower=max(y)> ceiling_y;
}
transformed data {
  real top = ceiling_y + 1;
}
parameters {
  real<lower=0> first;
  real<lower=first> second;
  real<lower=first, upper=first + second> third;
  vector<lower=first>[n] many;
  array[n] real<lower=min(y), upper=top> inside;
  real<offset=second, multiplier=first> moved;
  vector<lower=many>[n] above;
}
transformed parameters {
  real<lower=third> fourth = third + 1;
  vector<lower=0, upper=fourth>[2] pair = rep_vector(fourth / 2, 2);
}
model {
  many ~ lognormal(0, 1);
}
generated quantities {
  real<lower=fourth> fifth = fourth * 2;
}
