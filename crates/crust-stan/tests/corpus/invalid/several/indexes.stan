// mistake: four broken indexes (4 mistakes)
data {
  real x;
  vector[3] v;
  tuple(real, int) t;
}
model {
  print(x[1]);
  print(v[1, 2]);
  print(v[1.5]);
  print(t.3);
}
