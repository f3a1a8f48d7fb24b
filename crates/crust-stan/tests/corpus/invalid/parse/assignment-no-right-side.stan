// mistake: an assignment without a value
transformed data {
  real a;
  a = ;
}
