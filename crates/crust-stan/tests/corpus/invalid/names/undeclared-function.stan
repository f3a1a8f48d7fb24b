// mistake: calls a function that does not exist
transformed data {
  real a = frobnicate(1.0);
}
