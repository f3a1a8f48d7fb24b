// mistake: -> is not an operator
transformed data {
  int a = 3 -> 2;
}
