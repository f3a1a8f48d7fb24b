// mistake: adds a tuple to the target (stanc passes this on to the C++ compiler, which rejects it)
parameters {
  real mu;
}
model {
  target += (mu, 1.0);
}
