// mistake: a block without an opening brace
data
  int N;
}
