// The banana of Haario, Saksman and Tamminen (1999) with b = 0.03.
parameters {
  vector[2] x;
}
model {
  x[1] ~ normal(0, 10);
  x[2] ~ normal(-0.03 * (square(x[1]) - 100), 1);
}
