// mistake: the second of two initialisers has the wrong type
transformed data {
  int a = 1, b = 2.5;
}
