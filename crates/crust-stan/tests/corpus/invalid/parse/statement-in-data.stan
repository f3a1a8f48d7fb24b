// mistake: an assignment in the data block
data {
  int N;
  N = 3;
}
