// mistake: a simplex with two sizes
parameters {
  simplex[2, 3] p;
}
