// mistake: two decimal points in one number
transformed data {
  real a = 1.2.3;
}
