// mistake: a tuple is accessed by a bracketed number after the dot
data {
  tuple(real, int) t;
}
transformed data {
  real a = t.[1];
}
