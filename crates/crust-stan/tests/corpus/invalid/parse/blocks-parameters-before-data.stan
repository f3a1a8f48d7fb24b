// mistake: the parameters block before the data block
parameters {
  real x;
}
data {
  int N;
}
