// mistake: a variable is called
data {
  vector[3] v;
}
transformed data {
  real a = v(1);
}
