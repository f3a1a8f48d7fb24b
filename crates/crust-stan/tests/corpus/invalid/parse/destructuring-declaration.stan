// mistake: several names in parentheses are declared at once
transformed data {
  real (a, b) = (1, 2);
}
