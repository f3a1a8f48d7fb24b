// mistake: a comparison inside of a bound
data {
  int a;
  int<lower=a > 1> b;
}
