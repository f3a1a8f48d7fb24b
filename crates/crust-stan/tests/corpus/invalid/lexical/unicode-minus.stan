// mistake: a typographic minus sign
transformed data {
  real a = 3 − 2;
}
