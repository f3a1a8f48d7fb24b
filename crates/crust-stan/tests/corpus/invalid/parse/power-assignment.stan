// mistake: the compound assignment ^= does not exist
transformed data {
  real a = 7;
  a ^= 2;
}
