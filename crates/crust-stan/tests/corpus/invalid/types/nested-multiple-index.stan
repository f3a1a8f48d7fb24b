// mistake: indexes the result of a multiple index on the left of an assignment
transformed data {
  vector[4] v = rep_vector(0, 4);
  v[1 : 3][2] = 1;
}
