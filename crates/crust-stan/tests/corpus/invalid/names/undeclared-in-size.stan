// mistake: a size that is not declared
data {
  vector[N] x;
}
