// mistake: a bar without a variate
model {
  target += normal_lpdf( | 0, 1);
}
