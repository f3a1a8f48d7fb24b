// mistake: an array of integers as a transformed parameter
transformed parameters {
  array[2] int n = {1, 2};
}
