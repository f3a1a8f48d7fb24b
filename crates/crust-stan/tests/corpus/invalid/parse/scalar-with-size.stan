// mistake: a scalar type with a size
data {
  real[3] x;
}
