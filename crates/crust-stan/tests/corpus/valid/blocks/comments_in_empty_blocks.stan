// Blocks that contain comments and no code.
data {
  // nothing is read
}
parameters { /* nothing is sampled */ }
model {
  /*
   * nothing is scored
   */
}
