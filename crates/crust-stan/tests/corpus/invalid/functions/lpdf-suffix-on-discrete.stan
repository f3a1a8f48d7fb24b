// mistake: the density suffix on a discrete distribution
data {
  int n;
}
model {
  target += poisson_lpdf(n | 3.0);
}
