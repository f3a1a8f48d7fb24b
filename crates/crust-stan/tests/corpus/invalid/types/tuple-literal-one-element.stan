// mistake: a tuple literal with one element and a comma
transformed data {
  tuple(real, int) t = (1.5,);
}
