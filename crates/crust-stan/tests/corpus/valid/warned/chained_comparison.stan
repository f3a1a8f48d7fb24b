// Not retired, but 2.39 warns: chained comparisons, which group to the left.
data { int a; int b; int c; real r; }
transformed data {
  int x = a < b < c;
  int y = a == b == c;
  int z = 0 <= r <= 1;
}
model { }
