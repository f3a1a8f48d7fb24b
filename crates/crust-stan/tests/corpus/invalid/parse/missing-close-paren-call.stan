// mistake: the parenthesis of a call is not closed
transformed data {
  real a = exp(1.0;
}
