// mistake: target() in transformed data
transformed data {
  real a = target();
}
