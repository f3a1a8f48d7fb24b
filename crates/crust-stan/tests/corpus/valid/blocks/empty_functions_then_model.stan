// An empty functions block in front of a non-empty model.
functions { }
parameters { real z; }
model { z ~ normal(0, 1); }
