// mistake: a dot without any digit
transformed data {
  real a = .;
}
