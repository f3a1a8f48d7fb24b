// mistake: target() in generated quantities
generated quantities {
  real a = target();
}
