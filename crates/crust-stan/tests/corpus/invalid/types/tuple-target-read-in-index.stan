// mistake: one target of a tuple assignment is the index of another
transformed data {
  int k = 1;
  vector[2] v = [1, 1]';
  (k, v[k]) = (2, 2);
}
