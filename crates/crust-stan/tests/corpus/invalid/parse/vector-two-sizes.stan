// mistake: a vector with two sizes
data {
  vector[2, 3] v;
}
