// mistake: an argument to a constant function
transformed data {
  real a = pi(2);
}
