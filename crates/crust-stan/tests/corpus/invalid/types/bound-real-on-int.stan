// mistake: a real as the bound of an int
data {
  int<lower=0.5> x;
}
