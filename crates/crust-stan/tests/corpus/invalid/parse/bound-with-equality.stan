// mistake: an equality inside of a bound
data {
  int a;
  real<lower=a == 1> b;
}
