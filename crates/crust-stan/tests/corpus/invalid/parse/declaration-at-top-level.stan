// mistake: a declaration outside of all blocks
int N;
parameters {
  real x;
}
