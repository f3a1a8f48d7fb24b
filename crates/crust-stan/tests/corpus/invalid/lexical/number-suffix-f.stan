// mistake: a C-style suffix on a number
transformed data {
  real a = 1.5f;
}
