// A program that consists of nothing but a functions block.
functions {
  real half(real u) {
    return 0.5 * u;
  }
}
