// mistake: a local variable of a profile block is used after it
model {
  profile("p") {
    real a = 1;
  }
  target += a;
}
