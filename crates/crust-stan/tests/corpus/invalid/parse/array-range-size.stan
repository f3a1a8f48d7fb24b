// mistake: a range as the size of an array
data {
  array[1:3] int x;
}
