// mistake: a vector with empty size brackets
data {
  vector[] v;
}
