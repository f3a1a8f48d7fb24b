// mistake: an empty parenthesis as an expression
transformed data {
  real a = ();
}
