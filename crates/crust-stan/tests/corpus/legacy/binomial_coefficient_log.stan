// Retired: `binomial_coefficient_log`, now lchoose.
data { int n; int k; }
transformed data { real c = binomial_coefficient_log(n, k) + binomial_coefficient_log(5.5, 2.5); }
model { }
