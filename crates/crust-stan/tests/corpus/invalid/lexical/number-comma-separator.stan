// mistake: a comma as separator of thousands
transformed data {
  real a = 1,000.5;
}
