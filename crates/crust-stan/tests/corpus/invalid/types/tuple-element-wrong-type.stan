// mistake: a tuple with an element of the wrong type
transformed data {
  tuple(real, int) t = (1.5, 2.5);
}
