// mistake: two data blocks
data {
  int N;
}
data {
  int M;
}
