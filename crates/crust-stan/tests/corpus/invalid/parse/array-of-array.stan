// mistake: the word array twice
data {
  array[2] array[3] int x;
}
