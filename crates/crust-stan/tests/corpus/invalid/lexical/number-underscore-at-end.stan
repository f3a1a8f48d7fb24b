// mistake: a digit separator after the last digit
transformed data {
  int a = 1000_;
}
