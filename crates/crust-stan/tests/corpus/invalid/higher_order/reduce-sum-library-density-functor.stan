// mistake: a library density as the functor of reduce_sum
data {
  array[3] real y;
}
model {
  target += reduce_sum(normal_lpdf, y, 1);
}
