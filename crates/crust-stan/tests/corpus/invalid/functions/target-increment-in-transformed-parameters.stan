// mistake: target += in transformed parameters
transformed parameters {
  target += 1;
}
