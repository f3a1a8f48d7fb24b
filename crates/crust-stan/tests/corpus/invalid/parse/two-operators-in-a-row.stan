// mistake: two binary operators in a row
transformed data {
  real a = 2 * / 3;
}
