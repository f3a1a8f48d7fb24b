data { int<lower=0> n; matrix[n, 2] X; vector<lower=0, upper=1>[n] prop; }
parameters { real b0; vector[2] b; real<lower=0> phi; }
model {
  vector[n] m = inv_logit(b0 + X * b);
  b0 ~ cauchy(0, 2.5); b ~ cauchy(0, 2.5); phi ~ inv_gamma(2, 5);
  prop ~ beta(m * phi, (1 - m) * phi);
}
