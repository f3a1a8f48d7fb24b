// Named functions that mirror the operators.
data { int a; int b; real r; vector[2] v; matrix[2, 2] m; }
transformed data {
  int i1 = logical_and(a, b) + logical_or(a, b) + logical_negation(a);
  int i2 = logical_eq(a, b) + logical_neq(a, b) + logical_lt(a, r) + logical_lte(a, b) + logical_gt(r, b) + logical_gte(a, b);
  int i3 = modulus(a, b) + plus(a) + minus(b) + add(a, b) + subtract(a, b) + multiply(a, b);
  real r1 = pow(r, 2) + divide(r, b) + add(r, a) + subtract(a, r) + multiply(r, r);
  vector[2] v1 = add(v, 1) + subtract(v, v) + multiply(m, v) + elt_multiply(v, v) + elt_divide(v, v) + divide(v, 2) + pow(v, v);
  matrix[2, 2] m1 = transpose(m) + mdivide_left(m, m) + mdivide_right(m, m) + add(m, m) + minus(m) + plus(m);
}
