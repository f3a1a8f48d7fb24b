// mistake: a bound of the truncation of a discrete distribution is a real
data {
  int n;
}
model {
  n ~ poisson(3.0) T[0.5, ];
}
