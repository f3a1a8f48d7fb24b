// mistake: tuple elements count from one
data {
  tuple(real, int) t;
}
transformed data {
  real a = t.0;
}
