// Counting loops: nested, empty ranges, expression bounds, single-statement bodies.
data {
  int<lower=1> n;
  int<lower=1> m;
  array[n] int<lower=1> len;
}
transformed data {
  matrix[n, m] table;
  int total = 0;
  for (i in 1 : n)
    for (j in 1 : m)
      table[i, j] = i * j;
  for (i in n : 1) total += 1;
  for (k in (n - 1) : (n + 1)) { total += k; }
  for (i in 1 : n) {
    for (j in i : min(m, len[i])) {
      int prod_ij = i * j;
      if (prod_ij > 10) continue;
      if (prod_ij < 0) break;
      total += prod_ij;
    }
  }
  for (i in -2 : 2) for (j in 1 : 1 + 1) total -= i + j;
  for (i in 1 : size(len)) { }
}
