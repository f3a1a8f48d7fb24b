// Shapes of identifiers: case, digits, single and inner double underscores.
data {
  real a;
  real A;
  real aB9;
  real z_;
  real snake_case_name;
  real camelCaseName;
  real x1_2_3;
  real inner__double;
  real X_;
  real e5;
  real i;
  real i1;
}
transformed data {
  real s = a + A + aB9 + z_ + snake_case_name + camelCaseName + x1_2_3
           + inner__double + X_ + e5 + i + i1;
}
