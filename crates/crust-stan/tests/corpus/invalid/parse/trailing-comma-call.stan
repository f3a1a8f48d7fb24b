// mistake: a comma after the last argument
transformed data {
  real a = fmax(1.0, 2.0,);
}
