// mistake: two arguments before the bar
model {
  target += normal_lpdf(1, 0 | 1);
}
