// mistake: a size that is a real
data {
  vector[2.5] v;
}
