// mistake: an inner scope declares a name of the outer scope again
model {
  real a = 1;
  {
    real a = 2;
  }
}
