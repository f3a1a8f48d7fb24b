// mistake: reduce_sum without arguments
model {
  target += reduce_sum();
}
