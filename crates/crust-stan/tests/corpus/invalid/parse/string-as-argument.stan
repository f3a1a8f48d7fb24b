// mistake: a string as the argument of a function
transformed data {
  real a = exp("hello");
}
