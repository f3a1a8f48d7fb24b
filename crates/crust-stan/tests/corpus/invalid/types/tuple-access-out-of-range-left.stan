// mistake: the third element of a pair on the left of an assignment
transformed data {
  tuple(real, int) t;
  t.3 = 1;
}
