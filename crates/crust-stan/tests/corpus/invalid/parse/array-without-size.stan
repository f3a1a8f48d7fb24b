// mistake: an array without brackets
data {
  array int x;
}
