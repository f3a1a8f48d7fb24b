// mistake: the data block is not closed before the next block
data {
  int N;
parameters {
  real x;
}
