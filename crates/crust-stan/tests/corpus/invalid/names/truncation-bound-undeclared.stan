// mistake: the bound of a truncation is not declared
parameters {
  real x;
}
model {
  x ~ normal(0, 1) T[low, ];
}
