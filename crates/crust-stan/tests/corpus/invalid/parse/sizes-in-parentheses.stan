// mistake: sizes in parentheses
data {
  vector(3) v;
}
