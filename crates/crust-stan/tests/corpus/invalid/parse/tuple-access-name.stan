// mistake: a tuple is accessed by name
data {
  tuple(real, int) t;
}
transformed data {
  real a = t.first;
}
