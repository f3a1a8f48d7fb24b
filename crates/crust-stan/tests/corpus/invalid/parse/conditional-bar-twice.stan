// mistake: two bars in one call
model {
  target += normal_lpdf(1 | 0 | 1);
}
