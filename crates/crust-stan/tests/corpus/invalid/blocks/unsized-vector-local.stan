// mistake: a local vector without a size
model {
  vector x;
}
