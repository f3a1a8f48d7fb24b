// mistake: jacobian is assigned to
parameters {
  real x;
}
transformed parameters {
  jacobian = x;
}
