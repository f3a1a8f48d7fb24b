// mistake: an array with empty brackets in the data block
data {
  array[] int x;
}
