// mistake: an integer parameter with bounds
parameters {
  int<lower=0, upper=1> z;
}
