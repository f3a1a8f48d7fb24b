// mistake: the size of transformed data depends on a parameter declared later
transformed data {
  vector[N] v;
}
parameters {
  real N;
}
