// mistake: two indexes for a vector on the left of an assignment
transformed data {
  vector[3] v;
  v[1, 2] = 3;
}
