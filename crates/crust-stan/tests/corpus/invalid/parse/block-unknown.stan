// mistake: a block with an unknown name
constants {
  int N;
}
