// mistake: a string as the value of a variable
transformed data {
  real a = "hello";
}
