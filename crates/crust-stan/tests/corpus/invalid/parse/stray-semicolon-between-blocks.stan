// mistake: a semicolon between two blocks
data {
  int N;
};
model {
  target += 1;
}
