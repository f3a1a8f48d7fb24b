// mistake: a dollar sign inside an identifier
data {
  real pri$ce;
}
