// mistake: declares a name twice in one block
data {
  int N;
  real N;
}
