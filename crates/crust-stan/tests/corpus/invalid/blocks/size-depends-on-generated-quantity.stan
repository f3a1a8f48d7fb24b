// mistake: the size of a generated quantity depends on another one
generated quantities {
  int n = 3;
  vector[n] q;
}
