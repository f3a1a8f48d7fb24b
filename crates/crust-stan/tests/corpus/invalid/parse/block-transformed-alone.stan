// mistake: the word transformed without a kind of block
transformed {
  int N;
}
