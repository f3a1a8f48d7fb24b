// mistake: the bounds after the size
data {
  vector[3]<lower=0> x;
}
