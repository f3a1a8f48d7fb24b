// mistake: the operator ++ does not exist
transformed data {
  int a = 1;
  a++;
}
