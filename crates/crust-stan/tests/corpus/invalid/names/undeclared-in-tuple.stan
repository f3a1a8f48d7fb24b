// mistake: an element of a tuple is not declared
transformed data {
  tuple(real, real) t = (1.0, second);
}
