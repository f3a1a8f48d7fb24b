// mistake: two digit separators in a row
transformed data {
  int a = 1__000;
}
