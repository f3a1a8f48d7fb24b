// mistake: functions as the branches of a ternary
functions {
  real f(real x) {
    return x;
  }
}
model {
  print(1 ? f : f);
}
