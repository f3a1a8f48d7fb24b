// mistake: a declaration without a type
data {
  N;
}
