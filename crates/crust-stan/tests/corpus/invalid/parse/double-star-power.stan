// mistake: ** is not the power operator
transformed data {
  real a = 7 ** 2;
}
