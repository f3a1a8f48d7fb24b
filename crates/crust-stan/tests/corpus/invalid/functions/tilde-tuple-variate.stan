// mistake: a tuple as a variate
parameters {
  tuple(real, real) t;
}
model {
  t ~ normal(0, 1);
}
