// mistake: a size that is a real variable
data {
  real n;
  array[n] int v;
}
