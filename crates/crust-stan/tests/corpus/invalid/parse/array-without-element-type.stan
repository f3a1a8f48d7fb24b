// mistake: an array without the type of its elements
data {
  array[3] x;
}
