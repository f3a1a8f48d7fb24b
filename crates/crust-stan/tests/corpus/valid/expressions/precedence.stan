// One line per neighbouring pair of the operator precedence table.
transformed data {
  int a = 7;
  int b = 3;
  int c = 2;
  real x = 1.5;
  matrix[2, 2] A = [[2, 1], [1, 3]];
  vector[2] v = [1, 2]';
  real t1 = a > b ? x : c > b ? x + 1 : x - 1;
  int t2 = a || b && c;
  int t3 = a && b || c && !b;
  int t4 = a == b && c != b;
  int t5 = a == b < c;
  int t6 = a < b + c;
  int t7 = a + b * c - a;
  int t8 = a * b %/% c % a;
  vector[2] t9 = A \ A * v;
  matrix[2, 2] t10 = A * A .* A;
  matrix[2, 2] t11 = A \ A .* A;
  int t12 = !a == b;
  real t13 = -x ^ 2;
  real t14 = x ^ -c;
  real t15 = -a ^ -b;
  real t16 = x ^ x ^ x;
  matrix[2, 2] t17 = -A';
  matrix[2, 2] t18 = A .^ A';
  matrix[2, 2] t19 = A' .^ 2 * A;
  real t20 = v[1] ^ v[2];
  int t21 = a - b - c;
  real t22 = x / x / x * x;
  int t23 = a % b %/% c;
  int t24 = (a > b) == b < a;
  int t25 = (a >= b) != b <= a;
  int t26 = - - a + + b;
  matrix[2, 2] t27 = A * -A;
  real t28 = 2 * -x ^ 2 / -x;
  matrix[2, 2] t29 = A ./ A - A .* A + A;
  int t30 = !(a < b) && !0 || !!c;
}
