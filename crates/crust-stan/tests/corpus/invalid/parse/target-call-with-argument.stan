// mistake: target() takes no arguments
model {
  real a = target(1);
}
