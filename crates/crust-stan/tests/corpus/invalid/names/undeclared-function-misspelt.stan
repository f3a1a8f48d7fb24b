// mistake: calls a misspelt library function
transformed data {
  real a = sqroot(2.0);
}
