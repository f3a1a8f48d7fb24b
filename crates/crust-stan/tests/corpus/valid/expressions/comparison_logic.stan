// Comparisons and logical operators on integers, reals and complex numbers, with chains.
data { int i; int j; real r; complex z; }
transformed data {
  int a = i == j; int b = i != j; int c = i < j; int d = i <= j; int e = i > j; int f = i >= j;
  int g = i == r; int h = r != i; int k = r < 2; int l = 2 <= r; int m = r > r; int n = r >= 1e3;
  int o = z == z; int p = z != 1i; int q = z == r;
  int s = i && j; int t = i || j; int u = !i; int v = r > 1 && r < 2;
  int w = (1 < i) < j; int x = (i == j) == 1; int y = (i < j) == (j > i); int aa = i != j < i; int ab = (i < j) != j < i;
  int bb = i && j && !i || j || i && !j;
  int cc = !(i == j) + (i > j) * 2;
}
