// mistake: assigns a complex number to a real
transformed data {
  real a = 1 + 2i;
}
