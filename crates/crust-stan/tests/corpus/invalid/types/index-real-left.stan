// mistake: an index that is a real on the left of an assignment
transformed data {
  vector[3] v;
  v[1.5] = 3;
}
