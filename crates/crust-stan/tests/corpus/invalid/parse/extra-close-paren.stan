// mistake: one closing parenthesis too many
transformed data {
  real a = (1 + 2));
}
