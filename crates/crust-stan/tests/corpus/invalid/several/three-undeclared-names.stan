// mistake: three names that are not declared (3 mistakes)
parameters {
  real x;
}
model {
  target += a1;
  x ~ normal(b1, 1);
  print(c1);
}
