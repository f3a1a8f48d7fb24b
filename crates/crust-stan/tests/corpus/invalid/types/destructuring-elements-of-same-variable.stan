// mistake: two elements of one vector among the targets of a tuple assignment
transformed data {
  vector[2] v;
  (v[1], v[2]) = (1, 2);
}
