// print, reject and fatal_error with strings, scalars, containers and expressions.
functions {
  void check(real x) {
    if (x < 0) reject("negative: ", x, " square ", x ^ 2);
    if (is_nan(x)) fatal_error("nan");
    print(x);
  }
  real sure(real x) {
    if (x > 0) return x;
    else if (x < 0) reject("no");
    else fatal_error("zero ", x, {1, 2});
  }
}
data { int n; vector[n] v; matrix[n, n] m; array[2] int a; tuple(int, real) t; complex z; }
transformed data {
  print("only text");
  print(n);
  print(v, " ", m, " ", a, " ", t, " ", z);
  print("sum=", sum(v), " last=", v[n], " lit=", {1, 2}, [3, 4], [[5, 6], [7, 8]], (1, 2.5));
  check(1);
}
parameters { real p; }
transformed parameters { print("tp ", p); }
model {
  print("lp = ", target());
  target += sure(p ^ 2 + 1);
}
generated quantities { print("gq"); }
