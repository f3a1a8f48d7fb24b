// mistake: a truncation of a multivariate distribution
parameters {
  vector[2] x;
}
model {
  x ~ multi_normal([0, 0]', identity_matrix(2)) T[0, ];
}
