// mistake: a bound of a truncation is a vector
parameters {
  vector[2] x;
}
model {
  x ~ normal(0, 1) T[x, ];
}
