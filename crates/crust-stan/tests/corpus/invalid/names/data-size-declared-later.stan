// mistake: a size is declared after its use
data {
  vector[N] x;
  int N;
}
