// A program with only a data block.
data {
  int<lower=0> n_obs;
  vector[n_obs] obs;
}
