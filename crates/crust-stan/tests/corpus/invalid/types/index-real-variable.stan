// mistake: an index that is a real variable
data {
  real k;
  array[3] int v;
}
transformed data {
  int a = v[k];
}
