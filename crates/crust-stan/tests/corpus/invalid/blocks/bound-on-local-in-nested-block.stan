// mistake: a bound on a local variable of a nested block in transformed data
transformed data {
  {
    int<lower=0> x = 1;
  }
}
