// Not retired, but 2.39 warns: division of two integers with `/`.
data { int a; int b; }
transformed data {
  int q = a / b;
  real h = 1 / 2;
  int r = (a + b) / 2;
}
model { }
