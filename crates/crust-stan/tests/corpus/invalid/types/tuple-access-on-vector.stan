// mistake: a vector is accessed like a tuple
data {
  vector[3] v;
}
transformed data {
  real a = v.1;
}
