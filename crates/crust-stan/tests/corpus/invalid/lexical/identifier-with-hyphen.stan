// mistake: a hyphen inside an identifier
data {
  real sigma-y;
}
