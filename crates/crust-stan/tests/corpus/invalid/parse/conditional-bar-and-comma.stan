// mistake: a comma after the bar
model {
  target += normal_lpdf(1 |, 0, 1);
}
