// mistake: a vector without a size
data {
  vector v;
}
