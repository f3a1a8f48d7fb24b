// mistake: a log complementary cumulative distribution function after the tilde
parameters {
  real x;
}
model {
  x ~ normal_lccdf(0, 1);
}
