// mistake: a Greek letter as an identifier
parameters {
  real μ;
}
