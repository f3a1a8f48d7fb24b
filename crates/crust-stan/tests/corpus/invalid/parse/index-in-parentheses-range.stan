// mistake: a range in parentheses
data {
  vector[9] v;
}
transformed data {
  vector[3] a = v[(1:3)];
}
