// Direct recursion and mutual recursion without any forward declaration.
functions {
  int factorial(int n) {
    if (n <= 1) return 1;
    return n * factorial(n - 1);
  }
  int is_even(int n) {
    return n == 0 ? 1 : is_odd(n - 1);
  }
  int is_odd(int n) {
    return n == 0 ? 0 : is_even(n - 1);
  }
  real power(real base, int k) {
    if (k == 0) {
      return 1;
    } else if (k % 2 == 0) {
      return square(power(base, k %/% 2));
    } else {
      return base * power(base, k - 1);
    }
  }
  vector tri_solve(matrix L, vector b, int k) {
    if (k > rows(L)) return b;
    vector[rows(b)] c = b;
    c[k] = (b[k] - L[k, 1 : (k - 1)] * b[1 : (k - 1)]) / L[k, k];
    return tri_solve(L, c, k + 1);
  }
}
transformed data {
  int f = factorial(5);
  int e = is_even(10);
  real p = power(1.5, 7);
}
