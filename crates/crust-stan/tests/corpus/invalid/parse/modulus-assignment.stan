// mistake: the compound assignment %= does not exist
transformed data {
  int a = 7;
  a %= 2;
}
