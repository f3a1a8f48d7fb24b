// mistake: a tuple is indexed with brackets
data {
  tuple(real, real) t;
}
transformed data {
  real a = t[1];
}
