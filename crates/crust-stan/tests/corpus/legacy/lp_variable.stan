// Retired: the hidden variable `lp__` read and assigned in the model block.
data { int<lower=0> n; real y[n]; }
parameters { real mu; }
model {
  lp__ <- lp__ - 0.5 * square(mu);
  for (i in 1:n)
    lp__ <- lp__ + normal_log(y[i], mu, 1);
}
