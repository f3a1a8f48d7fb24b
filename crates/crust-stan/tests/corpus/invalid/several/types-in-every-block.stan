// mistake: a type error in each of four blocks (4 mistakes)
transformed data {
  int a = 1.5;
}
parameters {
  real x;
}
transformed parameters {
  vector[2] v = [x, x];
}
model {
  if (x) {
    print(x);
  }
}
generated quantities {
  row_vector[2] r = v;
}
