// mistake: the negation of a tuple
data {
  tuple(real, real) a;
}
transformed data {
  tuple(real, real) c = -a;
}
