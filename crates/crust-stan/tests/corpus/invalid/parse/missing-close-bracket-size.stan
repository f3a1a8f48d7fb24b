// mistake: the size of a vector is not closed
data {
  vector[3 v;
}
