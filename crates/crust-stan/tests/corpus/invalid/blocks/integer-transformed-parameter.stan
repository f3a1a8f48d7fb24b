// mistake: an integer transformed parameter
transformed parameters {
  int n = 3;
}
