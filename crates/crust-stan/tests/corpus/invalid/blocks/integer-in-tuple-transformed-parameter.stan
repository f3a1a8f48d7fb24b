// mistake: an array of tuples with an integer as a transformed parameter
transformed parameters {
  array[2] tuple(real, int) n;
}
