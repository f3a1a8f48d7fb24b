// mistake: the word void as a variable
data {
  real void;
}
