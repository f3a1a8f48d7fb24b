// mistake: the imaginary unit is written i, not j
transformed data {
  complex z = 1 + 2j;
}
