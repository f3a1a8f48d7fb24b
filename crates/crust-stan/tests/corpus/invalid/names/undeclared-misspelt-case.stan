// mistake: names are case-sensitive
data {
  int N;
}
transformed data {
  int m = n;
}
