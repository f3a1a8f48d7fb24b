// mistake: a library function is used as a value
transformed data {
  real a = exp + 1;
}
