// mistake: a bound of a truncation is a matrix
parameters {
  real x;
}
model {
  x ~ normal(0, 1) T[identity_matrix(2), ];
}
