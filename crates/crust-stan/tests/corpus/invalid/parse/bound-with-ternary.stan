// mistake: an unparenthesised ternary inside of a bound
data {
  int a;
  int<lower=a ? 1 : 2> b;
}
