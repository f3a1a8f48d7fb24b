// Retired: `get_lp()` to read the log density.
parameters { real z; }
model {
  z ~ normal(0, 1);
  print("so far ", get_lp());
}
