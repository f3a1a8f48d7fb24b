// mistake: adds a complex number to a real in place
transformed data {
  real a = 1;
  a += 2i;
}
