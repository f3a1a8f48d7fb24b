// mistake: a complex element for a real element of a tuple
transformed data {
  tuple(real, int) t = (2i, 1);
}
