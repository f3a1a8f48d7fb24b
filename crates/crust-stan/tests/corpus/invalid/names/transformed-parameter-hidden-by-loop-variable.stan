// mistake: a loop variable has the name of a transformed parameter
transformed parameters {
  real a = 1;
}
model {
  for (a in 1:3) {
    print(a);
  }
}
