// mistake: a tuple for a real
transformed data {
  real a = (1.0, 2.0);
}
