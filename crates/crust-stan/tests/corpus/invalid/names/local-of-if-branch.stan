// mistake: a variable of the if branch is used in the else branch
data {
  int c;
}
model {
  if (c) {
    real a = 1;
  } else {
    target += a;
  }
}
