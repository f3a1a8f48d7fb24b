// mistake: a backtick in an expression
transformed data {
  real a = `3`;
}
