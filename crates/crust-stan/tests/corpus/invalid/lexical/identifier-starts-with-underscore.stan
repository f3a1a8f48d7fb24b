// mistake: an identifier starts with an underscore
parameters {
  real _x;
}
