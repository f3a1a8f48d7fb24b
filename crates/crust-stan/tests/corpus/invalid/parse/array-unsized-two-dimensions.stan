// mistake: an array with a comma but no sizes in the data block
data {
  array[,] int x;
}
