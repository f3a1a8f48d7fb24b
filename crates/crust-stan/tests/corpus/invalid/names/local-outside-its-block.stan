// mistake: a local variable is used outside of its block
model {
  {
    real a = 1;
  }
  target += a;
}
