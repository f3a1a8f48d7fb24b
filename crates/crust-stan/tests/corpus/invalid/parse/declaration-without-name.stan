// mistake: a declaration without a name
data {
  real;
}
