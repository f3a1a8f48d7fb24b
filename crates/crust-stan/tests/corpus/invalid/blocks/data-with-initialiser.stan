// mistake: a data variable with a value
data {
  int N = 3;
}
