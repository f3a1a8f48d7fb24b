// mistake: a size that is the quotient of reals
data {
  int n;
  vector[n / 2.0] v;
}
