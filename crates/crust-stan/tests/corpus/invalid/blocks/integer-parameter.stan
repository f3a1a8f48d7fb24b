// mistake: an integer parameter
parameters {
  int n;
}
