// mistake: the result of a function has the wrong type
transformed data {
  int a = floor(2.5);
}
