// Retired: `multiply_log`, now lmultiply.
data { real a; real b; }
transformed data { real c = multiply_log(a, b) + multiply_log(2, 3.0); }
model { }
