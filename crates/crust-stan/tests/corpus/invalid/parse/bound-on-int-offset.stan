// mistake: an offset on an integer
data {
  int<offset=1> x;
}
