// A program with only a transformed parameters block.
transformed parameters {
  real fixed_value = 3.25;
}
