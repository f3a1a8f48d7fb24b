// mistake: jacobian += in the parameters block
parameters {
  real x;
  jacobian += x;
}
