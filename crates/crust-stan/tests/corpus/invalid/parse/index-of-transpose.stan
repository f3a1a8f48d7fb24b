// mistake: indexes a transpose without parentheses
data {
  vector[3] v;
}
transformed data {
  real first = v'[1];
}
