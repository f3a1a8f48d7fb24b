// mistake: the size of a generated quantity is the size of another one
generated quantities {
  vector[3] v;
  vector[size(v)] w;
}
