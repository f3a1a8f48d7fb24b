// mistake: a block inside of another block
model {
  parameters {
    real x;
  }
}
