// mistake: an underscore instead of a blank in the name of a block
transformed_data {
  int N = 3;
}
